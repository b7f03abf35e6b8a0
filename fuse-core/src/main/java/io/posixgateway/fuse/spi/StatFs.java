package io.posixgateway.fuse.spi;

/** What statfs(2) shows. */
public final class StatFs {
    public long blocks;
    public long freeBlocks;
    public long availableBlocks;
    public long files;
    public long freeFiles;
    public int blockSizeBytes;
    public int maxNameBytes;
    public int fragmentSizeBytes;

    /** Puts every field to zero. */
    public void clear() {
        blocks = 0;
        freeBlocks = 0;
        availableBlocks = 0;
        files = 0;
        freeFiles = 0;
        blockSizeBytes = 0;
        maxNameBytes = 0;
        fragmentSizeBytes = 0;
    }
}
