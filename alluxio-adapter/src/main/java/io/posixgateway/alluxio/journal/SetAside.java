package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Content that a recovery neither commits nor deletes: it is moved, with its record, into a folder of its own beside the
 * records, with a line that says why. Nothing here ever deletes it; that is an operator's to do. Any thread.
 */
public final class SetAside {
    /** The folder's name. */
    public static final String FOLDER = "aside";

    private static final Logger LOG = LoggerFactory.getLogger(SetAside.class);
    private static final String WHY = ".why";

    private final Path folder;

    /** @param records the folder of the volume's records */
    public SetAside(Path records) {
        this.folder = records.resolve(FOLDER);
    }

    /** Makes the folder while there is room: a disk that is full may take no name any more. One that it cannot make is missing. */
    void prepare() {
        try {
            if (Files.notExists(folder)) {
                Files.createDirectory(folder);
            }
        } catch (IOException e) {
            LOG.debug("{} is not there, and cannot be made yet: {}", folder, e.toString());
        }
    }

    /**
     * What was set aside.
     *
     * @param content the file with the content, which may be there no more
     * @param path where it was in Alluxio; empty: not known
     * @param why in a sentence
     * @param bytes of the content
     */
    public record Item(Path content, String path, String why, long bytes) {}

    /**
     * Moves a spool file, and what stands beside it.
     *
     * @param path where the file is, or was, in Alluxio; empty: not known
     * @param why in half a sentence that follows "because"
     * @return where the content is now
     * @throws IOException it could not be moved, and stays where it is, or partly so; nothing is deleted
     */
    public Path put(Path spool, String path, String why) throws IOException {
        Files.createDirectories(folder);
        String name = spool.getFileName().toString();
        String free = free(name);
        explain(folder.resolve(free + WHY), path.replace('\n', '?') + "\n" + why + "\n");
        for (String beside : List.of(DirtyFileRecord.SUFFIX, Origin.SUFFIX, "")) {
            Path from = spool.resolveSibling(name + beside);
            if (Files.exists(from)) {
                Files.move(from, folder.resolve(free + beside));
            }
        }
        Path content = folder.resolve(free);
        LOG.warn(
                "{} is set aside in {}, because {}: check it, then copy it where it belongs, or delete it",
                path.isEmpty() ? "The changed content of a file" : "The changed content of " + path,
                content,
                why);
        return content;
    }

    /** A name that nothing here has. */
    private String free(String name) {
        String free = name;
        for (int number = 2; isTaken(free); number++) {
            free = name + "." + number;
        }
        return free;
    }

    private boolean isTaken(String name) {
        return Stream.of(WHY, DirtyFileRecord.SUFFIX, Origin.SUFFIX, "")
                .anyMatch(suffix -> Files.exists(folder.resolve(name + suffix)));
    }

    /** A disk that is full has no room for it: the log says it, too. */
    private static void explain(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            LOG.warn("{} cannot be written: {}", file, e.toString());
        }
    }

    /** All that is there now, in the order of names. Looks at the disk. */
    public List<Item> items() {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        Set<String> names = new TreeSet<>();
        try (Stream<Path> files = Files.list(folder)) {
            files.forEach(file -> names.add(withoutSuffix(file.getFileName().toString())));
        } catch (IOException e) {
            LOG.warn("Content that was set aside in {} cannot be listed: {}", folder, e.toString());
        }
        return names.stream().map(this::item).filter(item -> item != null).toList();
    }

    private static String withoutSuffix(String name) {
        for (String suffix : List.of(WHY, DirtyFileRecord.SUFFIX, Origin.SUFFIX)) {
            if (name.endsWith(suffix)) {
                return name.substring(0, name.length() - suffix.length());
            }
        }
        return name;
    }

    /** Null: an operator took it away. */
    private @Nullable Item item(String name) {
        Path content = folder.resolve(name);
        List<String> lines = List.of();
        try {
            if (Files.notExists(content) && Files.notExists(folder.resolve(name + DirtyFileRecord.SUFFIX))) {
                return null;
            }
            lines = new String(Files.readAllBytes(folder.resolve(name + WHY)), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (IOException missing) {
            LOG.debug("The reason why {} was set aside cannot be read: {}", content, missing.toString());
        }
        return new Item(content, line(lines, 0), line(lines, 1), bytesOf(content));
    }

    private static long bytesOf(Path content) {
        try {
            return Files.size(content);
        } catch (IOException missing) {
            return 0;
        }
    }

    private static String line(List<String> lines, int number) {
        return lines.size() > number ? lines.get(number) : "";
    }

    /** Where it all is. */
    public Path folder() {
        return folder;
    }
}
