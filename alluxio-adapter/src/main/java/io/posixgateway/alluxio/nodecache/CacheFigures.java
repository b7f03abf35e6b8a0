package io.posixgateway.alluxio.nodecache;

/**
 * Numbers of a cache, each read by itself.
 *
 * @param hits reads of this volume that the cache answered
 * @param misses reads of this volume that Alluxio answered, of files that the cache could hold
 * @param hitBytes what the hits read
 * @param skipped pieces this volume read and did not cache, as there was no memory to gather them in
 * @param bytes of all pieces in the folder
 * @param limitBytes of that
 * @param pinned those that are open
 * @param evicted pieces that others took the place of
 * @param dropped pieces that were damaged or missing
 * @param scrubbed pieces that were compared with their CRCs behind all else
 * @param faults failures of the disk
 * @param suspended the disk does not answer
 */
public record CacheFigures(
        long hits,
        long misses,
        long hitBytes,
        long skipped,
        long bytes,
        long limitBytes,
        long pieces,
        long pinned,
        long evicted,
        long dropped,
        long scrubbed,
        long faults,
        boolean suspended) {}
