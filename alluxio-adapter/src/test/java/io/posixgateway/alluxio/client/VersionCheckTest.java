package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.spi.Errno;
import org.junit.jupiter.api.Test;

/** Which reads from an object store are followed by a comparison. */
class VersionCheckTest {
    private static final int BLOCK = 100;
    private static final int LENGTH = 250;

    private int comparisons;
    private boolean replaced;
    private final VersionCheck check = new VersionCheck(BLOCK, LENGTH, () -> {
        comparisons++;
        if (replaced) {
            throw new StoreException(Errno.ESTALE, "replaced", null);
        }
    });

    private void reads(long offset, int count, int expected) throws StoreException {
        comparisons = 0;
        check.streamed(offset, count);
        assertThat(comparisons).as("after %d bytes at %d", count, offset).isEqualTo(expected);
    }

    @Test
    void aBlockIsComparedWhereItsReadBeginsAndAtItsEnd() throws StoreException {
        reads(0, 10, 1);
        reads(10, 10, 0);
        reads(20, 70, 0);
        reads(90, 10, 1);
        reads(100, 10, 1);
        reads(110, 95, 1);
        reads(205, 10, 0);
        reads(215, LENGTH - 215, 1);
    }

    @Test
    void aReadThatDoesNotContinueTheLastIsCompared() throws StoreException {
        reads(10, 10, 1);
        reads(30, 10, 1);
        reads(40, 10, 0);
        reads(40, 10, 1);
    }

    @Test
    void afterAReplacementEachReadIsCompared() {
        replaced = true;
        for (int offset = 10; offset < 40; offset += 10) {
            int at = offset;
            assertThatThrownBy(() -> check.streamed(at, 10)).hasMessage("replaced");
        }
        assertThat(comparisons).isEqualTo(3);
    }
}
