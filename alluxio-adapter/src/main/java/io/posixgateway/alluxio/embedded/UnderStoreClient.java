package io.posixgateway.alluxio.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Another client of what Alluxio's root stands on, of which Alluxio knows nothing. Paths are relative to that root: {@code dir/file}. For
 * one thread at a time.
 */
public interface UnderStoreClient {
    /** Writes a file, in place of the one that is there, and the directories above it. */
    void put(String path, byte[] content) throws IOException;

    /** The content of a file; null: there is none. */
    byte @Nullable [] get(String path) throws IOException;

    /** Makes a directory, and those above it. */
    void makeDirectory(String path) throws IOException;

    /** Removes a file. */
    void delete(String path) throws IOException;

    /** The names in a directory, in order; none where there is no such directory. Empty: the root. */
    List<String> names(String directory) throws IOException;

    /** Puts the files below a folder there, under their paths in it. */
    default void putAll(Path folder) throws IOException {
        try (Stream<Path> tree = Files.walk(folder)) {
            for (Path file : tree.filter(Files::isRegularFile).toList()) {
                put(folder.relativize(file).toString(), Files.readAllBytes(file));
            }
        }
    }
}
