package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.TestDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A gateway was killed, and its end waits in the kernel for longer than programs may wait. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeldFolderFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    /** Has of the volumes' folders, and of the pages' address, what such a process has. */
    private static final String HOLDER = """
            import fcntl, os, socket, sys, time
            pages = socket.create_server(('127.0.0.1', int(sys.argv[2])))
            folders = [os.open(each.path, os.O_RDONLY) for each in os.scandir(sys.argv[1]) if each.is_dir()]
            for each in folders:
                fcntl.flock(each, fcntl.LOCK_EX)
            print('holds', len(folders), flush=True)
            time.sleep(600)
            """;

    @TempDir
    private Path folder = Path.of("");

    @Test
    void callsFailWithEio_untilItHasEnded_andAreServedThen() throws Exception {
        Built.keeper();
        TestDirectory own = Clusters.directory(Clusters.killable());
        own.store("f", "content".getBytes(StandardCharsets.UTF_8));
        try (Node node = new Node(folder)) {
            node.awaitReady();
            Path mount = node.mount("one");
            Path file = mount.resolve("f");
            node.control().attach(Node.request("one", own));
            assertThat(Files.readString(file)).isEqualTo("content");
            node.gateway().kill();
            String spool = folder.resolve("spool").toString();
            String port = String.valueOf(node.httpPort());
            Program holder = Program.start(folder, List.of("python3", "-c", HOLDER, spool, port));
            try (holder) {
                holder.awaitOutput("holds 1", LIMIT);
                node.startNextGateway();
                node.gateway().awaitOutput("its programs now get EIO", LIMIT);
                assertThat(node.gateway().output()).contains("waits in the kernel", "restart the node");
                assertThatThrownBy(() -> Files.size(mount.resolve("g")))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("Input/output error");
            }
            node.awaitReady();
            assertThat(Files.readString(file)).isEqualTo("content");
        }
    }
}
