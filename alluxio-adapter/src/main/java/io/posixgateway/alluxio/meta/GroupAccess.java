package io.posixgateway.alluxio.meta;

/** What the group of every file may do beyond what its mode says; shown by stat(2), so it is what the kernel checks. */
public enum GroupAccess {
    NONE(0, 0),
    READ(040, 050),
    WRITE(060, 070);

    private final int fileBits;
    private final int directoryBits;

    GroupAccess(int fileBits, int directoryBits) {
        this.fileBits = fileBits;
        this.directoryBits = directoryBits;
    }

    /** Permission bits to add. */
    int bits(boolean directory) {
        return directory ? directoryBits : fileBits;
    }
}
