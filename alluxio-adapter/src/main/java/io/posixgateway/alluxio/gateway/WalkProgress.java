package io.posixgateway.alluxio.gateway;

/** Is told what a walk through a volume has done. */
@FunctionalInterface
public interface WalkProgress {
    /**
     * After each entry.
     *
     * @param path below the volume's root
     * @param bytes length of a file, else 0
     * @param failed could it not be read?
     * @return false ends the walk
     */
    boolean add(String path, long bytes, boolean failed);
}
