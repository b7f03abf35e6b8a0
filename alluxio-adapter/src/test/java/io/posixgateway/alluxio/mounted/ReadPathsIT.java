package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.harness.KernelLimits;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.read.BlockFiles;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.time.OffsetClock;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Each way to the bytes is told beforehand, taken, counted, and can be switched off. */
class ReadPathsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** After so long the worker hears of what was read. */
    private static final Duration BETWEEN_REPORTS = Duration.ofSeconds(5);
    /** In one block; large enough to be passed through, and read ahead. */
    private static final int BYTES = 4 << 20;

    private static final int SMALL_BYTES = 700_000;
    private static final int MAX_OPEN = 5;
    private static final int FILES = 20;
    /** The timer of OpenLocalBlock among the worker's metrics. */
    private static final Pattern OPENED =
            Pattern.compile("\"Worker\\.OpenBlock\\.[^\"]*\"\\s*:\\s*\\{\\s*\"count\"\\s*:\\s*(\\d+)");

    private final String folder;
    private final byte[] content = new byte[BYTES];
    private final byte[] small = new byte[SMALL_BYTES];

    ReadPathsIT() throws Exception {
        folder = SharedAlluxio.folder();
        new Random(1).nextBytes(content);
        new Random(2).nextBytes(small);
    }

    /** What was read in each way, in bytes; how much came ahead into memory; was it passed through? */
    private record Read(String told, long local, long remote, long ufs, long ahead, boolean passed) {}

    private static final Read LOCAL = new Read("local", BYTES, 0, 0, 0, false);

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
                    fs.store().ufsBytes(),
                    fs.details().buffers().readAheadBytes(),
                    counts.passthroughOpens() > 0);
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
        assertThat(read(kernelOff)).isEqualTo(LOCAL);
        Read streamed = read(Map.of("short_circuit", "off"));
        assertThat(streamed.ahead).isGreaterThan(BYTES / 2);
        assertThat(streamed).isEqualTo(new Read("remote", 0, BYTES, 0, streamed.ahead, false));
        assertThat(read(Map.of("short_circuit", "off", "prefetch", "off")))
                .isEqualTo(new Read("remote", 0, BYTES, 0, 0, false));
    }

    @Test
    void theKernelReadsByItselfWhereFilesDoNotChangeUnlessThatIsOff() throws Exception {
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            Files.write(mounted.root().resolve("f"), content);
            assumeTrue(
                    mounted.session().kernel().features().passthrough(),
                    "no passthrough: " + mounted.session().line());
        }
        assertThat(read(Map.of("consistency", "immutable"))).isEqualTo(new Read("passthrough", 0, 0, 0, 0, true));
        assertThat(read(Map.of("consistency", "immutable", "passthrough", "off")))
                .isEqualTo(LOCAL);
        assertThat(read(Map.of("passthrough", "on")))
                .as("where files may change")
                .isEqualTo(LOCAL);
    }

    private void writeSmallFiles() throws Exception {
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            for (int i = 0; i < FILES; i++) {
                Files.write(mounted.root().resolve("f" + i), small);
            }
        }
    }

    private void readSmallFiles(MountedFileSystem mounted) {
        for (int i = 0; i < FILES; i++) {
            assertThat(mounted.root().resolve("f" + i)).hasBinaryContent(small);
        }
    }

    /** Of those, too, that were closed to make room for others, and of those that the kernel has the pages of. */
    @Test
    void theWorkerHearsOfMoreThanMayBeOpen() throws Exception {
        writeSmallFiles();
        OffsetClock clock = new OffsetClock();
        AlluxioFileSystem fs = SharedAlluxio.open(
                folder, Map.of("passthrough", "off", "block_files", Integer.toString(MAX_OPEN)), clock);
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            readSmallFiles(mounted);
            BlockFiles blocks = fs.details().blocks();
            assertThat(blocks.size()).isLessThanOrEqualTo(MAX_OPEN);
            Waiting.until("the worker has heard of all of them", PATIENCE, () -> {
                clock.advance(BETWEEN_REPORTS);
                return blocks.told() >= FILES;
            });
            long told = blocks.told();
            long read = fs.counts().localReadBytes();
            readSmallFiles(mounted);
            assertThat(fs.counts().localReadBytes() - read)
                    .as("the kernel has most of the pages")
                    .isLessThan((long) FILES * SMALL_BYTES / 2);
            Waiting.until("the worker has heard of all of them again", PATIENCE, () -> {
                clock.advance(BETWEEN_REPORTS);
                return blocks.told() >= told + FILES;
            });
        }
    }

    /** Later, and at once, it hears of all that was read. */
    @Test
    void theWorkerIsAskedOnceWhereItsBlocksAre() throws Exception {
        writeSmallFiles();
        OffsetClock clock = new OffsetClock();
        AlluxioFileSystem fs = SharedAlluxio.open(folder, Map.of("passthrough", "off"), clock);
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            long before = localBlocksAskedFor();
            readSmallFiles(mounted);
            // A machine that is short of memory may take pages back before they are read, and they are read again.
            long all = (long) FILES * SMALL_BYTES;
            assertThat(fs.counts().localReadBytes()).isBetween(all, all + all / 10);
            assertThat(fs.details().blocks().told()).as("in so short a time").isZero();
            assertThat(localBlocksAskedFor() - before).isEqualTo(1);
            Waiting.until("the worker has heard of all of them", PATIENCE, () -> {
                clock.advance(BETWEEN_REPORTS);
                return fs.details().blocks().told() == FILES;
            });
            Waiting.until("and has counted them", PATIENCE, () -> localBlocksAskedFor() - before == 1 + FILES);
        }
    }

    /** How often anybody opened a block of the worker as a file, as it counts that itself. */
    private static long localBlocksAskedFor() throws IOException {
        InetSocketAddress web = SharedAlluxio.running().workers().get(0).address();
        URI metrics = URI.create("http://" + web.getHostString() + ":" + web.getPort() + "/metrics/json/");
        try (InputStream answer = metrics.toURL().openStream()) {
            String text = new String(answer.readAllBytes(), StandardCharsets.UTF_8);
            return OPENED.matcher(text)
                    .results()
                    .mapToLong(found -> Long.parseLong(found.group(1)))
                    .sum();
        }
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
