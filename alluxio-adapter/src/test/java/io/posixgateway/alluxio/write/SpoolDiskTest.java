package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The disk that all spools share with each other, and with others. */
class SpoolDiskTest {
    private static final long GIB = 1L << 30;
    private static final long MIB = 1L << 20;

    private final ManualClock clock = new ManualClock();
    private final AtomicLong usable = new AtomicLong(10 * GIB);
    private final AtomicInteger looks = new AtomicInteger();
    private final SpoolDisk.Disk disk = new SpoolDisk.Disk() {
        @Override
        public long usableBytes() {
            looks.incrementAndGet();
            return usable.get();
        }

        @Override
        public long totalBytes() {
            return 100 * GIB;
        }
    };
    private final SpoolDisk spool = new SpoolDisk(disk, -1, clock);

    @Test
    void take_ofWhatLiesBelowTheReserve_isRefusedUntilThereIsRoom() {
        assertThat(spool.reserveBytes()).isEqualTo(GIB);
        usable.set(GIB + 10 * MIB);
        assertThat(spool.take(6 * MIB)).isTrue();
        usable.addAndGet(-6 * MIB);
        assertThat(spool.take(6 * MIB)).isFalse();
        assertThat(spool.take(3 * MIB)).isTrue();
        usable.addAndGet(GIB);
        assertThat(spool.take(6 * MIB)).isTrue();
    }

    /** A write must not pay for a look at the disk. */
    @Test
    void take_looksOnceASecondOrForMuch() {
        for (int i = 0; i < 1000; i++) {
            assertThat(spool.take(4096)).isTrue();
        }
        assertThat(looks.get()).isEqualTo(1);
        clock.advance(Duration.ofSeconds(2));
        assertThat(spool.take(4096)).isTrue();
        assertThat(looks.get()).isEqualTo(2);
        assertThat(spool.take(100 * MIB)).isTrue();
        assertThat(looks.get()).isEqualTo(3);
    }

    @Test
    void take_whenOthersFilledTheDisk_isRefusedASecondLater() {
        assertThat(spool.take(4096)).isTrue();
        usable.set(GIB / 2);
        clock.advance(Duration.ofSeconds(2));
        assertThat(spool.take(4096)).isFalse();
    }

    @Test
    void write_whereNoMoreThanTheReserveIsFree_failsWithEnospcAndWhatWasWrittenIsThere() {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        cluster.ufs().write("/f", new byte[10]);
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect()).with("spool_free", "1024T").open()) {
            assertThatThrownBy(() -> mount.write("/new", "hello"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOSPC));
            assertThat(mount.read("/f")).hasSize(10);
            assertThat(mount.fileSystem().counts().spoolBytes()).isZero();
        }
    }
}
