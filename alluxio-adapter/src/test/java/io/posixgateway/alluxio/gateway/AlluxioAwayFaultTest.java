package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.client.ShortTimeouts;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.QuietTime;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A gateway that starts while Alluxio is away: what it takes over answers, if only with EIO, and loses nothing. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AlluxioAwayFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    /** What a call may take, in {@link QuietTime}: several times what Alluxio's client tries, and calls wait for a recovery. */
    private static final Duration BOUND = Duration.ofSeconds(60);

    @TempDir
    private Path folder = Path.of("");

    private TestDirectory own;
    /** To the master, which is away while there is none: connections are refused. */
    private StoppableProxy way;

    @BeforeEach
    void reach() throws Exception {
        Built.keeper();
        own = Clusters.directory(Clusters.killable());
        way = new StoppableProxy(own.masters());
    }

    @AfterEach
    void end() throws IOException {
        if (way != null) {
            way.close();
        }
    }

    /**
     * Nothing is started while the file is open: a process that is closes a copy of it before it begins, and that waits for
     * Alluxio.
     */
    @Test
    void calls_fail_in_time_and_a_file_being_written_is_whole_when_alluxio_is_back() throws Exception {
        try (Node node = new Node(folder, ShortTimeouts.javaOptions())) {
            Path ufs = own.ufs();
            Files.writeString(ufs.resolve("old"), "old");
            node.awaitReady();
            Path mount = node.mount("away");
            Waiting.until("attached in spite of the short timeouts", LIMIT, () -> attaches(node));
            try (FileChannel dirtyFile =
                    FileChannel.open(mount.resolve("new"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                dirtyFile.write(bytes("before, "));
                way.close();
                node.gateway().kill();
                node.startNextGateway();
                node.awaitReady();

                QuietTime time = QuietTime.sinceNow();
                assertThatThrownBy(() -> Files.size(mount.resolve("old"))).isInstanceOf(IOException.class);
                assertThat(time.quiet()).isLessThan(BOUND);

                way = new StoppableProxy(way.address(), own.masters());
                Waiting.until("the file is written on", LIMIT, () -> writes(dirtyFile, "after"));
            }
            assertThat(mount.resolve("new")).hasContent("before, after");
            assertThat(ufs.resolve("new")).hasContent("before, after");
            assertThat(mount.resolve("old")).hasContent("old");
        }
    }

    /** A busy machine may take longer to answer than the client waits. */
    private boolean attaches(Node node) {
        try {
            node.control().attach(Node.request("away", way.address(), own.path()));
            return true;
        } catch (StatusRuntimeException e) {
            assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            return false;
        }
    }

    /** The channel's place moves on only when a write succeeds. */
    private static boolean writes(FileChannel file, String text) {
        try {
            return file.write(bytes(text)) == text.length();
        } catch (IOException e) {
            return false;
        }
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }
}
