package io.posixgateway.alluxio.store;

import java.util.List;

/**
 * Everything that Alluxio tells of a path, for people.
 *
 * @param ufsPath where the under file system has it; empty: nowhere
 * @param inAlluxioPercent how much of its data workers hold
 */
public record FileDetails(FileStatus status, String ufsPath, int inAlluxioPercent, List<Block> blocks) {
    /** A block of it. */
    public record Block(long id, long lengthBytes, List<Place> places) {}

    /**
     * A worker that has the block.
     *
     * @param tier of its store, such as MEM
     * @param here does it run on this host?
     */
    public record Place(String host, String tier, boolean here) {}
}
