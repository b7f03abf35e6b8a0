package io.posixgateway.alluxio.harness;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import java.nio.file.Path;

/**
 * A directory of a shared cluster that belongs to one test.
 *
 * @param alluxio the cluster
 * @param path of the directory in Alluxio
 */
public record TestDirectory(EmbeddedAlluxio alluxio, String path) {
    /** Where it lies in the UFS. */
    public Path ufs() {
        return alluxio.ufs().resolve(path.substring(1));
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
