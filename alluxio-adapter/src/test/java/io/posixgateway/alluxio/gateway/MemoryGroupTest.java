package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.gateway.MemoryGroup.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Folders as the kernel shows control groups. */
class MemoryGroupTest {
    private static final long MIB = 1 << 20;

    @TempDir
    private Path mounted = Path.of("");

    private void write(String file, String text) throws IOException {
        Path path = mounted.resolve(file);
        Files.createDirectories(path.resolveSibling("."));
        Files.writeString(path, text + "\n");
    }

    private void unified(String group, String current, String max) throws IOException {
        write("cgroup.controllers", "cpu memory");
        write(group + "memory.current", current);
        write(group + "memory.max", max);
        write(group + "memory.high", "max");
    }

    private static String mebibytes(long count) {
        return Long.toString(count * MIB);
    }

    @Test
    void read_ofVersion2_countsNoPagesThatCanBeDropped() throws Exception {
        unified("", mebibytes(1000), mebibytes(1792));
        write(
                "memory.stat",
                "anon 1\ninactive_file " + mebibytes(300) + "\nactive_file " + mebibytes(200) + "\nfile_dirty "
                        + mebibytes(50) + "\nfile_writeback " + mebibytes(20));
        write(
                "memory.pressure",
                "some avg10=40.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=21.50 avg60=0.00 avg300=0.00 total=1");
        Reading reading = new MemoryGroup(mounted, "0::/\n").read();
        assertThat(reading).isEqualTo(new Reading(570 * MIB, 1792 * MIB, 21.5));
    }

    /** Names and inodes that the kernel remembers of the spool's files, a gigabyte of them after a million files. */
    @Test
    void read_ofVersion2_countsNoSlabThatCanBeDropped() throws Exception {
        unified("", mebibytes(1700), mebibytes(1792));
        write("memory.stat", "slab_reclaimable " + mebibytes(1000) + "\nslab_unreclaimable " + mebibytes(20));
        assertThat(new MemoryGroup(mounted, "0::/\n").read()).isEqualTo(new Reading(700 * MIB, 1792 * MIB, 0));
    }

    @Test
    void read_takesTheGroupThatIsNearestToItsLimit() throws Exception {
        unified("pod/gateway/", mebibytes(100), mebibytes(1000));
        unified("pod/", mebibytes(900), mebibytes(1000));
        MemoryGroup group = new MemoryGroup(mounted, "1:name=systemd:/elsewhere\n0::/pod/gateway\n");
        assertThat(group.read()).isEqualTo(new Reading(900 * MIB, 1000 * MIB, 0));
        write("pod/gateway/memory.high", mebibytes(105));
        assertThat(group.read()).isEqualTo(new Reading(100 * MIB, 105 * MIB, 0));
    }

    @Test
    void read_ofAContainer_whoseGroupHasANameOfTheHost_takesTheRoot() throws Exception {
        unified("", mebibytes(100), mebibytes(1000));
        assertThat(new MemoryGroup(mounted, "0::/kubepods/pod1/abc\n").read().usedBytes())
                .isEqualTo(100 * MIB);
        assertThat(new MemoryGroup(mounted, "0::/../../other\n").read().usedBytes())
                .isEqualTo(100 * MIB);
    }

    @Test
    void read_ofVersion1() throws Exception {
        write("memory/kubepods/memory.usage_in_bytes", mebibytes(1000));
        write("memory/kubepods/memory.limit_in_bytes", mebibytes(1792));
        write("memory/kubepods/memory.stat", "inactive_file 1\ntotal_inactive_file " + mebibytes(300));
        write("memory/memory.usage_in_bytes", mebibytes(5000));
        write("memory/memory.limit_in_bytes", "9223372036854771712");
        MemoryGroup group = new MemoryGroup(mounted, "5:cpu:/x\n4:memory:/kubepods\n0::/\n");
        assertThat(group.read()).isEqualTo(new Reading(700 * MIB, 1792 * MIB, 0));
    }

    @Test
    void read_whereNothingLimits_saysSo() throws Exception {
        assertThat(new MemoryGroup(mounted, "").read()).isEqualTo(Reading.NONE);
        unified("", mebibytes(1000), "max");
        assertThat(new MemoryGroup(mounted, "0::/\n").read()).isEqualTo(Reading.NONE);
        assertThat(MemoryGroup.ofProcess().read().limitBytes()).isPositive();
    }
}
