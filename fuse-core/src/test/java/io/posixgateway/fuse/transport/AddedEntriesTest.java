package io.posixgateway.fuse.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How much memory the ring entries have that were added. */
class AddedEntriesTest {
    private static final int STRIDE = 1 << 16;
    private static final int NARROW = 8192;
    private static final long QUARTER = 4 * ParkedMemory.FIRST_BYTES;

    private final AddedEntries added = new AddedEntries(STRIDE, new ParkedMemory(4 * QUARTER));

    @AfterEach
    void unmap() {
        added.unmap();
    }

    @Test
    void map_beyondWhatTheProcessMayHave_isRefusedUntilOthersAreUnmapped() {
        int all = (int) (3 * QUARTER / NARROW);
        long address = added.map(all - 1);
        assertThat(address).isPositive();
        assertThat(added.map(2)).isNegative();
        added.unmap();
        assertThat(added.map(2)).isPositive();
    }

    @Test
    void map_whileEntriesAreUsedAsAWhole_isRefusedUntilTheyAreNarrow() {
        int wide = (int) (3 * QUARTER / STRIDE);
        long address = added.map(wide);
        for (int i = 0; i < wide; i++) {
            added.widened();
        }
        assertThat(added.map(1)).isNegative();
        for (int i = 0; i < wide; i++) {
            added.narrow(address + (long) i * STRIDE);
        }
        assertThat(added.map(1)).isPositive();
    }
}
