package io.posixgateway.alluxio.store;

/** Where a written file goes, as Alluxio's write types. */
public enum WriteType {
    /** To workers alone. */
    MUST_CACHE(true, false),
    /** To workers and, before it is complete, to the UFS. */
    CACHE_THROUGH(true, true),
    /** To the UFS alone. */
    THROUGH(false, true),
    /** To workers, and to the UFS when {@link MemoryCluster#persist} is called, as the job service would. */
    ASYNC_THROUGH(true, false);

    private final boolean caches;
    private final boolean persists;

    WriteType(boolean caches, boolean persists) {
        this.caches = caches;
        this.persists = persists;
    }

    /** True if workers keep its blocks. */
    boolean caches() {
        return caches;
    }

    /** True if it is in the UFS once it is complete. */
    boolean persists() {
        return persists;
    }
}
