package io.posixgateway.alluxio.read;

import io.posixgateway.fuse.jni.Native;
import java.nio.file.Path;

/**
 * A folder of block files.
 *
 * @param root the trusted folder that it is or that it lies beneath, as the administrator wrote it
 * @param path absolute; begins with the root
 */
public record BlockFolder(Path root, Path path) {
    /** Where the block's file is. */
    Path file(long blockId) {
        return path.resolve(Long.toString(blockId));
    }

    /** The root, as the kernel wants it. */
    public byte[] rootBytes() {
        return Native.pathBytes(root.toString());
    }

    /** The folder as seen from the root; empty: it is the root. */
    public byte[] beneathBytes() {
        return Native.pathBytes(root.relativize(path).toString());
    }
}
