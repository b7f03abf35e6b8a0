package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What a cached file costs: memory that stays, divided by the number of files. */
class CacheSizeTest {
    private static final int FILES = 300_000;
    private static final int FIRST = 2 * CachedNames.FILES_A_DIRECTORY;
    private static final int MAX_BYTES = 200;

    private final CachedNames names = new CachedNames(FILES * 2);

    @Test
    void aCachedFileTakesAtMostTwoHundredBytes() {
        names.fill(0, FIRST);
        long before = CachedNames.retainedBytes();
        names.fill(FIRST, FILES);
        double each = (double) (CachedNames.retainedBytes() - before) / (FILES - FIRST);
        assertThat(names.table().size()).isGreaterThan(FILES);
        System.out.printf("a cached file takes %.0f bytes%n", each);
        assertThat(each).isBetween(50.0, (double) MAX_BYTES);
        double told = (double) names.table().estimatedBytes() / names.table().size();
        assertThat(each).as("of the %.0f bytes that are told", told).isBetween(0.75 * told, 1.25 * told);
    }
}
