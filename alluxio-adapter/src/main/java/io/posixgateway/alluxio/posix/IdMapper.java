package io.posixgateway.alluxio.posix;

import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names of users and groups to numbers and back, by /etc/passwd and /etc/group, without starting a process.
 *
 * <p>The files are looked at again at most once a second, and read again when their time changed. A name that is a number
 * stands for itself; one nobody knows is {@link #NOBODY}. Numbers have 32 bits without a sign. Any thread.
 */
public final class IdMapper {
    /** The id of names that this host does not know. */
    public static final int NOBODY = 65534;

    /** The one after it means none. */
    private static final long MAX_ID = 0xFFFF_FFFEL;

    private static final long LOOK_NANOS = 1_000_000_000L;

    private final Table users;
    private final Table groups;

    /** @param clock nanoseconds that only go forward */
    public IdMapper(Path passwd, Path group, Clock clock) {
        users = new Table(passwd, clock);
        groups = new Table(group, clock);
    }

    /** Those of this host. */
    public static IdMapper ofHost(Clock clock) {
        return new IdMapper(Path.of("/etc/passwd"), Path.of("/etc/group"), clock);
    }

    public int uid(String user) {
        return users.number(user);
    }

    public int gid(String group) {
        return groups.number(group);
    }

    /** Null: no such user here. */
    public @Nullable String user(int uid) {
        return users.name(uid);
    }

    /** Null: no such group here. */
    public @Nullable String group(int gid) {
        return groups.name(gid);
    }

    /** One file: immutable content, replaced as a whole. */
    private static final class Table {
        private final Path file;
        private final Clock clock;
        private volatile Content content = new Content(Map.of(), Map.of(), FileTime.fromMillis(0));
        private volatile long lookedNanos;
        private volatile boolean looked;

        private record Content(Map<String, Integer> numbers, Map<Integer, String> names, FileTime time) {}

        Table(Path file, Clock clock) {
            this.file = file;
            this.clock = clock;
        }

        int number(String name) {
            Integer number = content().numbers.get(name);
            if (number != null) {
                return number;
            }
            Integer id = id(name);
            return id == null ? NOBODY : id;
        }

        @Nullable
        String name(int number) {
            return content().names.get(number);
        }

        private Content content() {
            long now = clock.nanos();
            if (!looked || now - lookedNanos > LOOK_NANOS) {
                lookedNanos = now;
                looked = true;
                reload();
            }
            return content;
        }

        private synchronized void reload() {
            try {
                FileTime time = Files.getLastModifiedTime(file);
                if (!time.equals(content.time)) {
                    content = parse(Files.readAllLines(file, StandardCharsets.ISO_8859_1), time);
                }
            } catch (IOException gone) {
                content = new Content(Map.of(), Map.of(), FileTime.fromMillis(0));
            }
        }

        /** Of 32 bits, as the kernel has them; null: the text is no number of a user or a group. */
        private static @Nullable Integer id(String text) {
            if (!text.matches("[0-9]{1,10}")) {
                return null;
            }
            long id = Long.parseLong(text);
            return id <= MAX_ID ? (Integer) (int) id : null;
        }

        private static Content parse(List<String> lines, FileTime time) {
            Map<String, Integer> numbers = new HashMap<>();
            Map<Integer, String> names = new HashMap<>();
            for (String line : lines) {
                String[] fields = line.split(":", -1);
                Integer number = fields.length > 2 ? id(fields[2]) : null;
                if (number != null) {
                    numbers.putIfAbsent(fields[0], number);
                    names.putIfAbsent(number, fields[0]);
                }
            }
            return new Content(numbers, names, time);
        }
    }
}
