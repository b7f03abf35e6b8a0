package io.posixgateway.alluxio.service;

/** Is told what a walk through a volume has done. */
@FunctionalInterface
public interface WalkProgress {
    /**
     * After each entry.
     *
     * @param bytes read of it
     * @param failed could it not be read?
     * @return false ends the walk
     */
    boolean add(long bytes, boolean failed);
}
