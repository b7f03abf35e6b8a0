package io.posixgateway.alluxio.store;

/** Moments within a call to the master at which others may come in; see {@link MemoryCluster#at}. */
public enum Moment {
    /** First listing of a directory: its names were read from the UFS, and are made next. The path is the directory's. */
    NAMES_LISTED_IN_UFS,
    /** Rename over a file: what was there is gone, and nothing is there yet. The path is the target's. */
    TARGET_DROPPED,
    /** Rename: the file has its new name, and is still where it was. The path is the target's. */
    NAME_CHANGED
}
