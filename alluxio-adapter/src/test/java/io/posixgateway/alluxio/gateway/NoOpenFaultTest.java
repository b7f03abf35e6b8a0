package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.fuse.conformance.UringSupport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The kernel opens files by itself ({@code no_open}), and goes on when the gateway that said so was killed. */
class NoOpenFaultTest {
    private static final int FILES = 20;
    private static final int SMALL_BYTES = 19_000;
    private static final int LONG_BYTES = 30 << 20;

    @TempDir
    private Path folder = Path.of("");

    @ParameterizedTest
    @ValueSource(strings = {"devfuse", "uring"})
    void what_the_kernel_opened_is_read_on_after_a_kill(String transport) throws Exception {
        Built.keeper();
        assumeTrue(Built.isRoot(), "only root can run a keeper that mounts");
        if (transport.equals("uring")) {
            UringSupport.assume();
        }
        TestDirectory own = Clusters.directory(Clusters.killable());
        try (Node node = new Node(folder)) {
            Path ufs = own.ufs();
            for (int i = 0; i < 2 * FILES; i++) {
                Files.write(ufs.resolve("f" + i), content(i, SMALL_BYTES));
            }
            Files.write(ufs.resolve("long"), content(-1, LONG_BYTES));
            node.awaitReady();
            Path mount = node.mount("dataset");
            node.control()
                    .attach(Node.request("dataset", own).toBuilder()
                            .setReadOnly(true)
                            .putOptions("consistency", "immutable")
                            .putOptions("no_open", "on")
                            .putOptions("transport", transport)
                            .build());
            try (FileChannel open = FileChannel.open(mount.resolve("long"))) {
                checkSmall(mount, 0, FILES);
                checkPart(open, 0, LONG_BYTES / 3);
                for (int kill = 1; kill <= 2; kill++) {
                    node.killAndRestartGateway();
                    checkPart(open, kill * (LONG_BYTES / 3), LONG_BYTES / 3);
                    checkSmall(mount, 0, FILES);
                    assertThatThrownBy(() -> Files.writeString(mount.resolve("f0"), "new"))
                            .isInstanceOf(FileSystemException.class)
                            .hasMessageContaining("Read-only file system");
                }
            }
            checkSmall(mount, FILES, 2 * FILES);
        }
    }

    private static byte[] content(int seed, int bytes) {
        byte[] content = new byte[bytes];
        new Random(seed).nextBytes(content);
        return content;
    }

    private static void checkSmall(Path mount, int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            assertThat(Files.readAllBytes(mount.resolve("f" + i))).isEqualTo(content(i, SMALL_BYTES));
        }
    }

    private static void checkPart(FileChannel open, int from, int bytes) throws IOException {
        ByteBuffer part = ByteBuffer.allocate(bytes);
        while (part.hasRemaining()) {
            assertThat(open.read(part, from + part.position())).isPositive();
        }
        assertThat(part.array()).isEqualTo(Arrays.copyOfRange(content(-1, LONG_BYTES), from, from + bytes));
    }
}
