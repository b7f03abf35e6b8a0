package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.nio.file.ExtendedOpenOption;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.AcknowledgedFiles;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The leading master of three is killed under a mount. The long form is {@code make long TEST=masters}. */
class LeaderLossFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int FILE_BYTES = 128 << 10;
    private static final int PAGE_BYTES = 4096;

    @Test
    void calls_whileLeaderIsKilled_waitForNextLeaderAndSucceed(@TempDir Path spool) throws Exception {
        EmbeddedAlluxio alluxio = Clusters.threeMasters();
        TestDirectory own = Clusters.directory(alluxio);
        byte[] content = new byte[FILE_BYTES];
        new Random(1).nextBytes(content);
        own.store("read", content);
        try (MountedFileSystem mounted = mount(own, spool);
                SteadyReader reader =
                        new SteadyReader("reader", () -> read(mounted.root().resolve("read"), content));
                AcknowledgedFiles writer = new AcknowledgedFiles(mounted.root(), true)) {
            writer.start();
            awaitMore("reader and writer work", reader, writer);
            Clusters.awaitLeader(alluxio).kill();
            Clusters.awaitLeader(alluxio);
            awaitMore("reader and writer continue", reader, writer);
            assertThat(writer.stop(own))
                    .as("what differs from what was acknowledged")
                    .isEmpty();
            assertThat(writer.failures()).isEmpty();
            assertThat(reader.failed()).as("failed reads").isZero();
            reader.endHonestly(LIMIT);
        }
    }

    private static MountedFileSystem mount(TestDirectory own, Path spool) throws Exception {
        Map<String, String> options = Map.of("metadata_ttl", "100ms", "spool", spool.toString());
        return MountedFileSystem.mount(
                AlluxioMount.open(
                        AlluxioOptions.ofUri(own.uri()), AdapterOptions.of(AdapterOptions.TABLE.read(options))),
                TransportChoice.LIBFUSE);
    }

    /** Past the kernel's page cache. */
    private static void read(Path file, byte[] content) throws IOException {
        ByteBuffer room = ByteBuffer.allocateDirect(FILE_BYTES + PAGE_BYTES)
                .alignedSlice(PAGE_BYTES)
                .limit(FILE_BYTES);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
            int count = channel.read(room, 0);
            assertThat(room.flip().equals(ByteBuffer.wrap(content, 0, Math.max(0, count))))
                    .as("%d bytes are those stored", count)
                    .isTrue();
            assertThat(count).isPositive();
        }
    }

    private static void awaitMore(String what, SteadyReader reader, AcknowledgedFiles writer) throws Exception {
        int reads = reader.good() + 3;
        int changes = writer.changes() + 3;
        Waiting.until(what, LIMIT, () -> {
            assertThat(writer.failures()).isEmpty();
            assertThat(reader.failed()).as("failed reads").isZero();
            return reader.good() > reads && writer.changes() > changes;
        });
    }
}
