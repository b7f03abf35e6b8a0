package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.AlluxioFileSystem;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** What is answered from memory, and how long it may be old. */
class CachesIT {
    private static final Request INLINE = new PlainRequest(false);
    private static final Request WAITING = new PlainRequest(true);

    @Test
    void whatWasSeenOnceIsAnsweredWithoutWaitingUntilItIsInvalidated() throws Exception {
        String folder = SharedAlluxio.folder();
        Files.writeString(SharedAlluxio.ufs(folder).resolve("f"), "hello");
        try (AlluxioFileSystem fs = SharedAlluxio.open(folder, Map.of("consistency", "ttl", "metadata_ttl", "1h"))) {
            Entry entry = new Entry();
            Name name = Name.of("f");
            assertThat(fs.lookup(INLINE, FileSystem.ROOT, name, entry)).isEqualTo(FileSystem.WOULD_WAIT);
            assertThat(fs.lookup(WAITING, FileSystem.ROOT, name, entry)).isZero();
            long node = entry.node;
            assertThat(fs.lookup(INLINE, FileSystem.ROOT, name, entry)).isZero();
            assertThat(entry.node).isEqualTo(node);
            assertThat(fs.getattr(INLINE, node, 0, new Attributes())).isZero();
            OpenReply open = new OpenReply();
            assertThat(fs.open(WAITING, node, 0, open)).isZero();
            ByteBuffer content = ByteBuffer.allocateDirect(100);
            assertThat(fs.read(WAITING, node, open.handle, 0, content)).isEqualTo(5);
            assertThat(fs.release(WAITING, node, open.handle)).isZero();
            assertThat(fs.invalidate("/f")).isEqualTo(1);
            assertThat(fs.lookup(INLINE, FileSystem.ROOT, name, entry)).isEqualTo(FileSystem.WOULD_WAIT);
        }
    }

    @Test
    void twoMountsSeeEachOthersChangesWithinTheTimeToLive() throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, String> options = Map.of("consistency", "ttl", "metadata_ttl", "1s");
        try (MountedFileSystem one =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
                MountedFileSystem two =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO)) {
            Path first = one.root().resolve("f");
            Path second = two.root().resolve("f");
            assertThat(second).doesNotExist();
            Files.writeString(first, "one");
            eventually(() -> Files.exists(second) && Files.readString(second).equals("one"));
            Files.writeString(first, "another one");
            eventually(() -> Files.readString(second).equals("another one"));
            Files.move(first, one.root().resolve("g"));
            eventually(() -> Files.notExists(second) && Files.exists(two.root().resolve("g")));
            Files.delete(two.root().resolve("g"));
            eventually(() -> Files.notExists(one.root().resolve("g")));
        }
    }

    @Test
    void openSeesWhatAnotherMountClosedBefore() throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, String> options = Map.of("metadata_ttl", "1h");
        try (MountedFileSystem one =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
                MountedFileSystem two =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO)) {
            Files.writeString(one.root().resolve("f"), "old");
            assertThat(two.root().resolve("f")).hasContent("old");
            for (int i = 0; i < 5; i++) {
                Files.writeString(one.root().resolve("f"), "new " + i);
                assertThat(two.root().resolve("f")).hasContent("new " + i);
            }
        }
    }

    /** Ten times the time to live, and then some for a busy machine. */
    private static void eventually(Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + 30_000_000_000L;
        while (!condition.call()) {
            assertThat(System.nanoTime()).as("not seen in time").isLessThan(deadline);
            Thread.sleep(50);
        }
    }
}
