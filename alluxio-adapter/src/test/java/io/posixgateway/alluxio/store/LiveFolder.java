package io.posixgateway.alluxio.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.stream.Stream;

/** A folder that a process still changes. */
final class LiveFolder {
    private LiveFolder() {}

    /** Copies what is not there yet. */
    static void copy(Path from, Path to) {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path copied = to.resolve(from.relativize(file));
                if (Files.notExists(copied)) {
                    copyIfThere(file, copied);
                }
            }
        } catch (UncheckedIOException changedMeanwhile) {
            copy(from, to);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Threads of the one that was killed may be removing it. */
    private static void copyIfThere(Path file, Path to) throws IOException {
        try {
            Files.copy(file, to, StandardCopyOption.COPY_ATTRIBUTES);
        } catch (NoSuchFileException gone) {
            Files.deleteIfExists(to);
        }
    }
}
