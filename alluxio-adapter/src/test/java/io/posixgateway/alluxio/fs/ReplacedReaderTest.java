package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.mounted.PlainRequest;
import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.FileSystem;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An open file got new content while a stream of the old one is read ahead. */
class ReplacedReaderTest {
    private static final int PIECE_BYTES = 1 << 20;
    /** After two pieces in sequence, what follows is fetched by a helper. */
    private static final int PIECES = 2;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryMount mount =
            MemoryMount.of(cluster.connect()).with("metadata_ttl", "0").open();

    @AfterEach
    void unmount() {
        mount.close();
    }

    /** Its content, by another mount: it is the same file. */
    private void replace(OpenFile open) {
        try (MemoryMount other = MemoryMount.of(cluster)) {
            other.write("/file", "n");
        }
        mount.requests().getattr(open.opened().node().id());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void readThatMayNotWait_doesNotCloseTheStreamOfTheOldContent() throws Exception {
        cluster.ufs().write("/file", new byte[8 * PIECE_BYTES]);
        CountDownLatch reads = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(1);
        mount.faults().on(StoreCall.READ).nth(PIECES + 1).before(() -> {
            reads.countDown();
            await(answered);
        });
        try (OpenFile file = mount.open("/file")) {
            for (int i = 0; i < PIECES; i++) {
                assertThat(mount.requests().read(file.opened(), (long) i * PIECE_BYTES, PIECE_BYTES))
                        .hasSize(PIECE_BYTES);
            }
            assertThat(reads.await(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            replace(file);
            AtomicInteger answer = new AtomicInteger();
            AsyncCall inline = AsyncCall.start(() -> answer.set(mount.fileSystem()
                    .read(
                            new PlainRequest(false),
                            file.opened().node().id(),
                            file.opened().handle(),
                            0,
                            ByteBuffer.allocate(1))));
            try {
                Eventually.holds("it does not wait", inline::isDone);
            } finally {
                answered.countDown();
            }
            inline.await();
            assertThat(answer).hasValue(FileSystem.WOULD_WAIT);
            assertThat(file.readText()).isEqualTo("n");
        }
    }
}
