package io.posixgateway.alluxio.gateway;

/**
 * What is known of a volume, without asking the kernel or waiting.
 *
 * @param ageMillis age of the figures
 * @param condition empty: healthy; else why not, in one sentence
 */
public record VolumeStats(long capacityBytes, long usedBytes, long availableBytes, long ageMillis, String condition) {}
