package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.AlluxioFileSystem;
import io.posixgateway.alluxio.harness.KernelLimits;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Each way to the bytes is told beforehand, taken, counted, and can be switched off. */
class ReadPathsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int BYTES = 700_000;

    private final String folder;
    private final byte[] content = new byte[BYTES];

    ReadPathsIT() throws Exception {
        folder = SharedAlluxio.folder();
        new Random(1).nextBytes(content);
    }

    /** What was read in each way, in bytes. */
    private record Read(String told, long local, long remote, long ufs) {}

    private Read read(Map<String, String> options) throws Exception {
        AlluxioFileSystem fs = SharedAlluxio.open(folder, options);
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            String told = fs.inspect("/f").way().name();
            assertThat(mounted.root().resolve("f")).hasBinaryContent(content);
            AlluxioFileSystem.Counts counts = fs.counts();
            return new Read(
                    told,
                    counts.localReadBytes(),
                    counts.remoteReadBytes(),
                    fs.store().ufsBytes());
        }
    }

    @Test
    void eachWayToTheBytesIsToldTakenAndCounted() throws Exception {
        Path below = Files.write(SharedAlluxio.ufs(folder).resolve("f"), content);
        Files.setLastModifiedTime(below, FileTime.from(Instant.now().minusSeconds(3600)));
        Map<String, String> kernelOff = Map.of("passthrough", "off");
        Read first = read(kernelOff);
        assertThat(first.told).isEqualTo("ufs");
        assertThat(first.remote).isEqualTo(BYTES);
        assertThat(first.ufs).isGreaterThanOrEqualTo(BYTES);

        Waiting.until(
                "the worker has kept it", PATIENCE, () -> read(kernelOff).told.equals("local"));
        assertThat(read(kernelOff)).isEqualTo(new Read("local", BYTES, 0, 0));
        assertThat(read(Map.of("short_circuit", "off"))).isEqualTo(new Read("remote", 0, BYTES, 0));
        assertThat(read(Map.of("short_circuit", "off", "prefetch", "off"))).isEqualTo(new Read("remote", 0, BYTES, 0));
    }

    @Test
    void theKernelsLimitsFit() throws Exception {
        assumeTrue(KernelLimits.areShown(), "not root, or no fusectl");
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            assertThat(KernelLimits.of(mounted.root())).isEqualTo(new KernelLimits(1024, 128, 96));
        }
    }
}
