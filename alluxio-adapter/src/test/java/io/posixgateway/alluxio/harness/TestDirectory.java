package io.posixgateway.alluxio.harness;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A directory of a shared cluster that belongs to one test.
 *
 * @param alluxio the cluster
 * @param path of the directory in Alluxio
 */
public record TestDirectory(EmbeddedAlluxio alluxio, String path) {
    /** Where it lies in the UFS, which is a folder. */
    public Path ufs() {
        return alluxio.ufs().resolve(path.substring(1));
    }

    /** The content of a file in the under file system, whatever that is; null: it has none of this name. */
    public byte @Nullable [] stored(String name) throws IOException {
        S3Server bucket = alluxio.s3();
        if (bucket != null) {
            return bucket.get(key(name));
        }
        Path file = ufs().resolve(name);
        return Files.exists(file) ? Files.readAllBytes(file) : null;
    }

    /** Puts a file there, as others do who know nothing of Alluxio, with the directories above it. */
    public void store(String name, byte[] content) throws IOException {
        S3Server bucket = alluxio.s3();
        if (bucket != null) {
            bucket.put(key(name), content);
        } else {
            Files.write(Files.createDirectories(ufs().resolve(name).getParent()).resolve(name(name)), content);
        }
    }

    /** The names that the under file system has in a directory of this one, or in this one if that is empty; of many, a thousand. */
    public List<String> storedNames(String directory) throws IOException {
        S3Server bucket = alluxio.s3();
        if (bucket != null) {
            String prefix = key(directory.isEmpty() ? "" : directory + "/");
            return bucket.keys(prefix).stream()
                    .map(key -> key.substring(prefix.length()).replaceFirst("/.*", ""))
                    .filter(name -> !name.isEmpty())
                    .distinct()
                    .toList();
        }
        try (Stream<Path> names = Files.list(ufs().resolve(directory))) {
            return names.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private String key(String name) {
        return path.substring(1) + "/" + name;
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** "host:port" of the master. */
    public String masters() {
        return alluxio.masters();
    }

    /** As a mount command takes it. */
    public String uri() {
        return "alluxio://" + masters() + path;
    }
}
