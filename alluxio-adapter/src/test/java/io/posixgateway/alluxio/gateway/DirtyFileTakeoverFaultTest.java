package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files that were being changed when the gateway was killed, and that other handles, other names and other mounts had to do with.
 * Nothing is started while they are open: each child of this process would close, and so commit, what this one has open.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DirtyFileTakeoverFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String RECOVERED = "changed files of an earlier process are recovered";
    private static final String FAILED = "Upload failed";

    @TempDir
    private Path folder = Path.of("");

    private TestDirectory own;
    private Node node;
    private Path ufs;

    @BeforeEach
    void serve() throws Exception {
        Built.keeper();
        own = Clusters.directory(Clusters.killable());
        ufs = own.ufs();
        node = new Node(folder);
        node.awaitReady();
    }

    @AfterEach
    void end() throws Exception {
        if (node != null) {
            node.close();
        }
    }

    private Path attach(String volume) throws Exception {
        Path mount = node.mount(volume);
        node.control().attach(Node.request(volume, own));
        return mount;
    }

    private void killAndServeAgain() throws Exception {
        node.gateway().kill();
        node.startNextGateway();
        node.awaitReady();
    }

    /** Its writer may have more to say, and is to hear of what is lost: a reader that closes the file hears nothing. */
    @Test
    void whatCannotBeCommittedWhenAReaderClosesIsStillCommittedByItsWriter() throws Exception {
        byte[] content = new byte[300_000];
        new Random(1).nextBytes(content);
        assumeTrue(own.alluxio().isOnFolder(), "the UFS is no disk of this host");
        Path small = Files.createDirectory(ufs.resolve("small"));
        assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=1m", "none", small.toString()) == 0, "may not mount");
        try {
            Path committed = Files.write(small.resolve("f"), new byte[10_000]);
            Path file = attach("one").resolve("small/f");
            try (FileChannel writer = FileChannel.open(file, StandardOpenOption.WRITE)) {
                FileChannel reader = FileChannel.open(file, StandardOpenOption.READ);
                assertThat(writer.write(ByteBuffer.wrap(content))).isEqualTo(content.length);
                Path filler = small.resolve("filler");
                assertThatThrownBy(() -> Files.write(filler, new byte[2 << 20])).hasMessageContaining("No space left");
                killAndServeAgain();
                reader.close();
                Waiting.until("its publication fails", LIMIT, () -> occurrences(FAILED) > 0);
                Files.delete(filler);
                writer.force(true);
                assertThat(committed).hasBinaryContent(content);
            }
        } finally {
            Mounts.discard(small);
        }
    }

    @Test
    void whatNobodySyncedIsSetAsideWhenItsMountIsNoMore() throws Exception {
        own.store("log", bytes("before").array());
        Path mount = attach("one");
        FileChannel writer = FileChannel.open(mount.resolve("log"), StandardOpenOption.WRITE);
        try {
            writer.write(bytes("first, "));
            Files.move(mount.resolve("log"), mount.resolve("log.1"));
            Files.writeString(mount.resolve("log"), "new");
            writer.force(true);
            writer.write(bytes("second"));
            node.gateway().kill();
            node.unmount("one");
            node.startNextGateway();
            node.awaitReady();
            attach("one");
            assertThat(occurrences("is set aside in")).isEqualTo(1);
            assertThat(own.stored("log")).asString().isEqualTo("new");
            assertThat(mount.resolve("log")).hasContent("new");
            assertThat(mount.resolve("log.1")).hasContent("first, ");
        } finally {
            assertThatThrownBy(writer::close).isInstanceOf(IOException.class);
        }
    }

    @Test
    void whatAnotherMountHidesForItsReadersStaysThere() throws Exception {
        own.store("f", bytes("before").array());
        Path one = attach("one");
        Path other = attach("other");
        try (FileChannel reader = FileChannel.open(other.resolve("f"), StandardOpenOption.READ);
                FileChannel writer = FileChannel.open(one.resolve("f"), StandardOpenOption.WRITE)) {
            writer.write(bytes("afterwards"));
            Files.delete(other.resolve("f"));
            assertThat(hidden()).isEqualTo(1);
            killAndServeAgain();
            Waiting.until("the draft is recovered", LIMIT, () -> occurrences(RECOVERED) > 0);
            assertThat(hidden()).isEqualTo(1);
            ByteBuffer seen = ByteBuffer.allocate(100);
            assertThat(reader.read(seen, 0)).isEqualTo("before".length());
            assertThat(seen.flip()).isEqualTo(bytes("before"));
        }
        Waiting.until("nothing hidden is left", LIMIT, () -> hidden() == 0);
        assertThat(own.stored("f")).asString().isEqualTo("afterwards");
    }

    private long hidden() throws IOException {
        return own.storedNames("").stream()
                .filter(name -> name.startsWith(".pgw~"))
                .count();
    }

    private int occurrences(String text) throws IOException {
        return node.gateway().output().split(text, -1).length - 1;
    }

    private static int run(String... words) throws Exception {
        return new ProcessBuilder(words).start().waitFor();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }
}
