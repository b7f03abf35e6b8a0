package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.store.FileDetails;

/**
 * What is known of one path of a volume.
 *
 * @param node its inode number
 * @param openHandles in this process
 * @param cached was its metadata known without asking Alluxio?
 */
public record PathInfo(
        long node, String alluxioPath, Attr attr, FileDetails details, int openHandles, boolean cached, Way way) {
    /**
     * How an open of it would be read now.
     *
     * @param name passthrough (the kernel reads the block file by itself), local, remote, ufs, spool or none
     * @param reason in one sentence
     */
    public record Way(String name, String reason) {}
}
