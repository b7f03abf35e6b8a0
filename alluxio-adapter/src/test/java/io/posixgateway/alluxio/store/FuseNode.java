package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.spi.Stat;
import java.time.Duration;

/**
 * A node as the kernel was told of it.
 *
 * @param id 0: the name leads nowhere, and the kernel may believe that
 * @param nameValid how long the kernel may believe that the name leads to it
 * @param attributesValid the same of its attributes
 * @param mode type and permissions
 * @param modifiedMillis since the epoch
 */
public record FuseNode(
        long id,
        Duration nameValid,
        Duration attributesValid,
        long inode,
        int mode,
        int uid,
        long lengthBytes,
        long modifiedMillis) {
    public boolean isDirectory() {
        return Stat.isDirectory(mode);
    }
}
