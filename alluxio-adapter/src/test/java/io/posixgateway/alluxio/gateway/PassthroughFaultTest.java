package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that the kernel reads by itself when the gateway is killed: the next one finds a way to read and write them. */
class PassthroughFaultTest {
    private static final int BYTES = 2 << 20;

    @TempDir
    private Path folder = Path.of("");

    /** Over what the session travels. */
    String transport() {
        return "devfuse";
    }

    private static byte[] filled(char with) {
        byte[] content = new byte[BYTES];
        Arrays.fill(content, (byte) with);
        return content;
    }

    private static void holds(FileChannel open, char with) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(BYTES);
        while (content.hasRemaining() && open.read(content, content.position()) > 0) {
            // Until it is full, or the file ends.
        }
        assertThat(content.array()).isEqualTo(filled(with));
    }

    /** How many nodes the kernel reads by itself, as the gateway has noted it for its successor. */
    private long passedThrough() throws IOException {
        try (Stream<Path> volumes = Files.list(folder.resolve("spool"))) {
            Path log = volumes.map(volume -> volume.resolve("passthrough"))
                    .filter(Files::exists)
                    .findFirst()
                    .orElseThrow();
            LongBuffer slots = ByteBuffer.wrap(Files.readAllBytes(log)).asLongBuffer();
            long count = 0;
            while (slots.remaining() > 1) {
                count += slots.get() > 0 ? 1 : 0;
            }
            return count;
        }
    }

    @Test
    void who_reads_past_the_gateway_goes_on_and_others_read_and_write_the_file() throws Exception {
        Built.keeper();
        assumeTrue(Built.isRoot(), "only root may pass files through");
        TestDirectory own = Clusters.directory(Clusters.killable());
        try (Node node = new Node(folder)) {
            node.awaitReady();
            Path file = node.mount("vol").resolve("file");
            node.control()
                    .attach(Node.request("vol", own).toBuilder()
                            .putOptions("transport", transport())
                            .putOptions("consistency", "immutable")
                            .build());
            Files.write(file, filled('a'));
            try (FileChannel first = passedThrough(file)) {
                node.killAndRestartGateway();
                holds(first, 'a');
                node.awaitReady();
                assertThat(Files.readAllBytes(file)).isEqualTo(filled('a'));
                try (FileChannel writer = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    writer.write(ByteBuffer.wrap(filled('b')), 0);
                }
                node.killAndRestartGateway();
                node.awaitReady();
                assertThat(Files.readAllBytes(file)).isEqualTo(filled('b'));
                holds(first, 'a');
                Files.write(file, filled('c'));
            }
            assertThat(Files.readAllBytes(file)).isEqualTo(filled('c'));
        }
    }

    /** Opens the file until the kernel reads it by itself: a descriptor closed before may still count. */
    private FileChannel passedThrough(Path file) throws Exception {
        long before = passedThrough();
        FileChannel[] found = new FileChannel[1];
        Waiting.until("the file is passed through", Duration.ofMinutes(1), () -> {
            FileChannel open = FileChannel.open(file);
            if (passedThrough() > before) {
                found[0] = open;
                return true;
            }
            open.close();
            return false;
        });
        return found[0];
    }
}
