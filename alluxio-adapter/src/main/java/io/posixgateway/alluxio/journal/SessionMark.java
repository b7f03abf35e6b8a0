package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says which session the state in a folder is of: an id that the session remembers, too. Each process that serves the session makes a
 * new one, so that a copy of the folder that was left behind is none of it any more. One thread; another process is kept out by the
 * folder's lock.
 *
 * <p>The file is replaced first, and names the id before as well: a process that is killed in between leaves a session that finds its
 * folder.
 */
public final class SessionMark {
    /** The file's name. */
    static final String FILE = "session";

    /** Of one that is not complete yet. */
    static final String FRESH = FILE + ".new";

    private static final Logger LOG = LoggerFactory.getLogger(SessionMark.class);
    private static final int HEX = 16;

    private final Path folder;
    private final Reserve reserve;

    /** @param reserve of its disk */
    SessionMark(Path folder, Reserve reserve) {
        this.folder = folder;
        this.reserve = reserve;
    }

    /** Is the state here of the session that remembers this id? */
    public boolean isOf(long id) {
        return ids().contains(id);
    }

    private List<Long> ids() {
        try (Stream<String> lines = Files.lines(folder.resolve(FILE))) {
            return lines.map(line -> Long.parseUnsignedLong(line, HEX)).toList();
        } catch (IOException | java.io.UncheckedIOException | NumberFormatException missing) {
            return List.of();
        }
    }

    /**
     * A new id of the session that is served from here.
     *
     * @param id that it remembers; 0: none
     * @return what it is to remember: on a disk that takes nothing the id that it has, if this is its folder's; else 0, and whoever serves
     *     it next takes any folder
     */
    public long renew(long id) {
        long made = Math.max(1, ThreadLocalRandom.current().nextLong() >>> 1);
        String text = Long.toHexString(made) + "\n" + (id == 0 ? "" : Long.toHexString(id) + "\n");
        try {
            if (id == 0) {
                reserve.write(() -> write(text));
            } else {
                write(text);
            }
            return made;
        } catch (IOException e) {
            LOG.warn("Which session the state in {} belongs to cannot be written down: {}", folder, e.toString());
            return isOf(id) ? id : 0;
        }
    }

    private void write(String text) throws IOException {
        Path fresh = folder.resolve(FRESH);
        Files.writeString(fresh, text);
        Files.move(fresh, folder.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    }
}
