package io.posixgateway.alluxio.store;

import java.util.List;

/**
 * Everything that Alluxio tells of a path, for people.
 *
 * @param ufsPath where the under file system has it; empty: nowhere
 * @param inAlluxioPercent how much of its data workers hold
 * @param contentTag of its content in the under file system, by Alluxio's last look: another content has another one, and a renamed file
 *     keeps it, but for an object that is copied in parts; empty: not known
 */
public record FileDetails(
        FileStatus status, String ufsPath, int inAlluxioPercent, List<Block> blocks, String contentTag) {
    /** True if both are known to have the same content. */
    public boolean hasContentOf(FileDetails other) {
        return !contentTag.isEmpty()
                && contentTag.equals(other.contentTag)
                && !status.directory()
                && status.lengthBytes() == other.status.lengthBytes();
    }

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
