package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Stat;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Alluxio compares a file with an object store that has another ETag than it knows: modes, owners and attributes stay. */
class LostAttributesTest {
    private static final int PARTS = 5 << 20;
    private static final int UID = 1000;
    private static final Duration LONGER_THAN_BELIEVED = Duration.ofMinutes(1);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
    private final MemoryStore other = cluster.connect();
    private final MemoryMount mount =
            MemoryMount.of(cluster.connect().syncingCopies()).open();

    LostAttributesTest() {
        cluster.ufs().copyInPartsFrom(PARTS);
    }

    @AfterEach
    void unmount() {
        mount.close();
    }

    private static byte[] content(int bytes, int fill) {
        byte[] content = new byte[bytes];
        Arrays.fill(content, (byte) fill);
        return content;
    }

    private void make(String path, byte[] content) {
        try (OpenFile file = mount.create(path)) {
            file.write(0, content);
        }
        long node = mount.lookup(path).id();
        mount.requests().chmod(node, 0640);
        mount.requests().chown(node, UID);
        mount.requests().setxattr(node, "user.a", "1");
    }

    /** By this mount and by one that knew nothing of it. */
    private void assertHasAttributes(String path) {
        assertHasAttributes(mount, path);
        try (MemoryMount fresh = MemoryMount.of(cluster)) {
            assertHasAttributes(fresh, path);
        }
    }

    private static void assertHasAttributes(MemoryMount by, String path) {
        FuseNode node = by.stat(path);
        assertThat(node.mode() & 0777).isEqualTo(0640);
        assertThat(by.requests().stat(node.id()).uid()).isEqualTo(UID);
        assertThat(by.requests().getxattr(node.id(), "user.a")).isEqualTo("1");
    }

    @ParameterizedTest
    @CsvSource({"true, 5242880", "false, 5242880", "true, 5242879", "false, 5242879"})
    void replacedFile_thatIsAnotherFileAfterTheCopy_isTheSameNode(boolean renamed, int bytes) throws StoreException {
        make("/file", content(bytes, 1));
        if (renamed) {
            make("/temporary", content(bytes, 2));
        }
        long node = mount.lookup(renamed ? "/temporary" : "/file").id();
        try (OpenFile reader = mount.open(renamed ? "/temporary" : "/file")) {
            if (renamed) {
                mount.rename("/temporary", "/file");
            } else {
                try (OpenFile file = mount.openToWrite("/file")) {
                    file.write(0, content(bytes, 2));
                }
            }
            assertThat(reader.readAll()).isEqualTo(content(bytes, 2));
        }
        other.compared("/file");
        cluster.clock().advance(LONGER_THAN_BELIEVED);
        assertHasAttributes("/file");
        assertThat(mount.lookup("/file").id()).isEqualTo(node);
        try (OpenFile file = mount.open("/file")) {
            assertThat(file.readAll()).isEqualTo(content(bytes, 2));
        }
    }

    /** This mount knows what it was; one that does not sees what the bucket has. */
    @Test
    void replacedFile_thatIsComparedLater_getsItsAttributesBack() throws StoreException {
        try (MemoryMount plain = MemoryMount.of(cluster)) {
            make("/temporary", content(PARTS, 1));
            plain.write("/file", "old");
            plain.rename("/temporary", "/file");
            assertHasAttributes(plain, "/file");
            other.compared("/file");
            assertThat(other.status("/file").mode()).isEqualTo(0700);
            cluster.clock().advance(LONGER_THAN_BELIEVED);
            assertHasAttributes(plain, "/file");
            assertThat(other.status("/file").mode()).isEqualTo(0640);
        }
    }

    /** A new file that others copied over itself, or an object that they replaced: the content is theirs, and so is its time. */
    @ParameterizedTest
    @ValueSource(strings = {"stat", "list"})
    void file_whoseObjectOthersReplaced_keepsAttributesButNoTime(String look) throws StoreException {
        make("/file", content(3, 1));
        mount.requests().setModified(mount.lookup("/file").id(), Duration.ofDays(1));
        cluster.clock().advance(LONGER_THAN_BELIEVED);
        cluster.ufs().write("/file", "of others".getBytes(StandardCharsets.UTF_8));
        other.compared("/file");
        if (look.equals("list")) {
            assertThat(mount.list("/")).containsExactly("file");
        }
        assertHasAttributes("/file");
        assertThat(mount.read("/file")).isEqualTo("of others");
        assertThat(mount.requests().stat(mount.lookup("/file").id()).modified())
                .isEqualTo(cluster.clock().instant());
    }

    /** As while another mount writes over the object. */
    @Test
    void fileOpenForWriting_whoseObjectOthersReplacedSinceItWasSynced_isTheSameNodeWithTheirContent()
            throws StoreException {
        make("/file", content(3, 1));
        FuseNode known = mount.lookup("/file");
        try (OpenFile writer = mount.openToWrite("/file")) {
            writer.write(0, content(3, 2));
            writer.fsync();
            cluster.clock().advance(LONGER_THAN_BELIEVED);
            cluster.ufs().write("/file", "of others".getBytes(StandardCharsets.UTF_8));
            other.compared("/file");
            FuseRequests.Opened reader = mount.requests().open(known, Stat.O_RDONLY);
            assertThat(mount.requests().read(reader, 0, 100)).asString().isEqualTo("of others");
            mount.requests().release(reader);
            assertHasAttributes("/file");
            assertThat(mount.lookup("/file").id()).isEqualTo(known.id());
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** They are given back by this mount: a response to a request from before, which lacks them, is older. */
    @ParameterizedTest
    @ValueSource(strings = {"lookup", "getattr"})
    void response_ofBeforeAttributesAreGivenBack_doesNotTakeThemAgain(String request) throws Exception {
        make("/file", content(3, 1));
        long node = mount.lookup("/file").id();
        Callable<FuseNode> asks = request.equals("lookup")
                ? () -> mount.lookup("/file")
                : () -> mount.requests().getattr(node);
        cluster.clock().advance(LONGER_THAN_BELIEVED);
        cluster.ufs().write("/file", "of others".getBytes(StandardCharsets.UTF_8));
        other.compared("/file");
        CountDownLatch answered = new CountDownLatch(1);
        CountDownLatch given = new CountDownLatch(1);
        FutureTask<FuseNode> late = new FutureTask<>(asks);
        mount.faults().on(StoreCall.CHANGE).at("/file").before(() -> {
            mount.faults().on(StoreCall.STATUS).at("/file").after(() -> {
                answered.countDown();
                await(given);
            });
            new Thread(late, "late").start();
            await(answered);
        });
        assertThat(asks.call().mode() & 0777).isEqualTo(0640);
        given.countDown();
        assertThat(late.get(60, TimeUnit.SECONDS).mode() & 0777).isEqualTo(0640);
        assertThat(mount.stat("/file").mode() & 0777).isEqualTo(0640);
    }

    /** A file that another client of Alluxio put there has what that one gave it. */
    @Test
    void file_thatAnotherClientReplaced_hasItsAttributes() throws StoreException {
        make("/file", content(3, 1));
        cluster.clock().advance(LONGER_THAN_BELIEVED);
        other.delete("/file");
        other.create("/file", 0604, java.util.Map.of(), java.util.UUID.randomUUID())
                .complete();
        assertThat(mount.stat("/file").mode() & 0777).isEqualTo(0604);
    }
}
