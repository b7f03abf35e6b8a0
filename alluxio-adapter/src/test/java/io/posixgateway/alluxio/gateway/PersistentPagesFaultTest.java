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
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the kernel keeps of files over a killed gateway: all of those that did not change, nothing of those that did. */
class PersistentPagesFaultTest {
    private static final int BYTES = 300_000;

    @TempDir
    private Path folder = Path.of("");

    @Test
    void pages_of_files_that_stayed_as_they_were_stay() throws Exception {
        Built.keeper();
        assumeTrue(Built.isRoot(), "only root can run a keeper that mounts");
        TestDirectory own = Clusters.directory(Clusters.killable());
        try (Node node = new Node(folder)) {
            Path ufs = own.ufs();
            for (String name : new String[] {"same", "rewritten", "elsewhere", "unread"}) {
                Files.write(ufs.resolve(name), filled(BYTES, 'a'));
            }
            node.awaitReady();
            Path here = attach(node, own, "here");
            Path there = attach(node, own, "there");
            for (String name : new String[] {"same", "rewritten", "elsewhere"}) {
                assertThat(here.resolve(name)).hasBinaryContent(filled(BYTES, 'a'));
            }
            try (FileChannel dirtyFile = FileChannel.open(here.resolve("rewritten"), StandardOpenOption.WRITE)) {
                dirtyFile.write(ByteBuffer.wrap(filled(BYTES, 'b')), 0);
                Files.write(there.resolve("elsewhere"), filled(BYTES, 'c'));
                node.killAndRestartGateway();
            }
            node.awaitReady();
            assertThat(here.resolve("same")).hasBinaryContent(filled(BYTES, 'a'));
            long reads = readsAfter(1, node);
            for (int i = 0; i < 3 && reads > 0; i++) { // the kernel drops pages for reasons of its own, too
                node.killAndRestartGateway();
                node.awaitReady();
                assertThat(here.resolve("same")).hasBinaryContent(filled(BYTES, 'a'));
                reads = readsAfter(1, node);
            }
            assertThat(reads).as("of a file that was there").isZero();
            assertThat(here.resolve("unread")).hasBinaryContent(filled(BYTES, 'a'));
            assertThat(readsAfter(2, node)).as("of a file that was not").isPositive();
            assertThat(here.resolve("rewritten")).hasBinaryContent(filled(BYTES, 'b'));
            assertThat(here.resolve("elsewhere")).hasBinaryContent(filled(BYTES, 'c'));
        }
    }

    private static Path attach(Node node, TestDirectory own, String volume) throws IOException {
        Path mount = node.mount(volume);
        node.control()
                .attach(Node.request(volume, own).toBuilder()
                        .putOptions("passthrough", "off")
                        .build());
        return mount;
    }

    /** Reads asked for, once that many opens are counted. */
    private static long readsAfter(int opens, Node node) throws Exception {
        String[] page = {""};
        Waiting.until(opens + " opens are counted", Duration.ofMinutes(1), () -> {
            page[0] = node.page("/metrics").body();
            return count("open", page[0]) >= opens;
        });
        return count("read", page[0]);
    }

    private static long count(String operation, String page) {
        Matcher found = Pattern.compile("requests_total\\{[^}]*op=\"" + operation + "\"[^}]*volume=\"here\"} (\\S+)")
                .matcher(page);
        return found.find() ? (long) Double.parseDouble(found.group(1)) : 0;
    }

    private static byte[] filled(int bytes, char with) {
        byte[] content = new byte[bytes];
        Arrays.fill(content, (byte) with);
        return content;
    }
}
