package io.posixgateway.alluxio.harness;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
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
        return alluxio.underStore().get(key(name));
    }

    /** Puts a file there, as others do who know nothing of Alluxio, with the directories above it. */
    public void store(String name, byte[] content) throws IOException {
        alluxio.underStore().put(key(name), content);
    }

    /** The names that the under file system has in a directory of this one, or in this one if that is empty; of many, a thousand. */
    public List<String> storedNames(String directory) throws IOException {
        return alluxio.underStore().names(directory.isEmpty() ? path.substring(1) : key(directory));
    }

    private String key(String name) {
        return path.substring(1) + "/" + name;
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
