package io.posixgateway.alluxio.bypass;

/** A volume whose files may be read without FUSE. Any thread; nothing waits. */
public interface BypassVolume {
    /** The minor device number of its mount, while that {@link #isConnected}; the major one is 0. */
    long device();

    /** Whether its mount has not ended: then the number is that of the next mount, which may be another tenant's. */
    boolean isConnected();

    /** Smaller files are read through FUSE. */
    long leastBytes();

    /** Where a file's content is now. */
    BlockSet blocks(long node);

    BypassCounts counts();
}
