package io.posixgateway.alluxio.bypass;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Which volume's files a program gets that shows one of its own. */
class BypassServerTest {
    private record Volume(long device, boolean isConnected) implements BypassVolume {
        @Override
        public long leastBytes() {
            return 1;
        }

        @Override
        public BlockSet blocks(long node) {
            return BlockSet.refused(BypassResult.NOT_COMPLETE);
        }

        @Override
        public BypassCounts counts() {
            return new BypassCounts();
        }
    }

    /** The kernel gives the number of a mount that has ended to the next one, of another tenant, say, while the volume is still attached. */
    @Test
    void volumeOf_aNumberThatTheNextMountGot_isTheNextMounts() {
        Volume ended = new Volume(7, false);
        Volume next = new Volume(7, true);
        assertThat(BypassServer.volumeOf(List.of(ended, next), 7)).isEqualTo(next);
        assertThat(BypassServer.volumeOf(List.of(ended), 7)).isNull();
    }
}
