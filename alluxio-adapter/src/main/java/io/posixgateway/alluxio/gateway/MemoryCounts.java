package io.posixgateway.alluxio.gateway;

/**
 * What the volumes of a process share of its memory, as metrics and {@code info} show it.
 *
 * @param cacheBytes what cached metadata of all volumes takes
 * @param cacheLimitBytes what it may take now
 * @param volumes that share it
 * @param usedPart of the heap or of the control group's memory, whichever is nearer to its end; 1: nothing is left
 * @param state calm, near or short
 * @param refused volumes that were not taken
 */
public record MemoryCounts(
        long cacheBytes, long cacheLimitBytes, int volumes, double usedPart, String state, long refused) {}
