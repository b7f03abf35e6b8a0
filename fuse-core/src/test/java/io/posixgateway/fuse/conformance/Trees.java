package io.posixgateway.fuse.conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/** Makes trees of files, and describes them so that two can be compared. */
public final class Trees {
    private Trees() {}

    /** Folders within folders, files of many sizes, symbolic links, empty files, modes of all kinds. */
    public static void make(Path root, long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 0; i < 12; i++) {
            Path folder = Files.createDirectories(root.resolve("d" + i % 4 + "/e" + i % 3 + "/f" + i));
            for (int k = 0; k < 8; k++) {
                byte[] content = new byte[k == 0 ? 0 : random.nextInt(1 << (6 + k * 2))];
                random.nextBytes(content);
                Path file = Files.write(folder.resolve("file " + k), content);
                Files.setPosixFilePermissions(
                        file, PosixFilePermissions.fromString(k % 2 == 0 ? "rw-r-----" : "rwxr-xr-x"));
                Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000_000_123L + k));
            }
            Files.createSymbolicLink(folder.resolve("link"), Path.of("file 3"));
        }
        ageFolders(root);
    }

    /** Folders, of which some have files and some have folders, are older than what is in them. */
    private static void ageFolders(Path root) throws IOException {
        List<Path> folders;
        try (Stream<Path> all = Files.walk(root)) {
            folders = all.filter(path -> Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                    .sorted(Comparator.reverseOrder())
                    .toList();
        }
        for (int i = 0; i < folders.size(); i++) {
            Files.setLastModifiedTime(folders.get(i), FileTime.fromMillis(900_000_000_123L + i));
        }
    }

    /** The same, and some files have a second name. */
    public static void makeWithHardLinks(Path root, long seed) throws IOException {
        make(root, seed);
        for (int i = 0; i < 4; i++) {
            Path folder = root.resolve("d" + i + "/e" + i % 3 + "/f" + i);
            Files.createLink(folder.resolve("second name"), folder.resolve("file 2"));
        }
        ageFolders(root);
    }

    /** One line per file: path, mode, size, time, checksum or target. */
    public static List<String> describe(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return all.sorted().map(path -> line(root, path)).toList();
        }
    }

    private static String line(Path root, Path path) {
        try {
            String what = Files.isSymbolicLink(path)
                    ? "-> " + Files.readSymbolicLink(path)
                    : Files.isDirectory(path)
                            ? "folder of " + Files.getLastModifiedTime(path)
                            : "crc " + checksum(Files.readAllBytes(path)) + time(path);
            int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            return root.relativize(path) + " " + Integer.toOctalString(mode) + " " + what;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String time(Path path) throws IOException {
        return " " + Files.size(path) + " bytes of " + Files.getLastModifiedTime(path);
    }

    private static long checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length);
        return crc.getValue();
    }
}
