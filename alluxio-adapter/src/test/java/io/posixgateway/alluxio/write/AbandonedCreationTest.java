package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The incomplete file of a new one that came to nothing is in everyone's way: it goes, now or later, and never that of another client. */
class AbandonedCreationTest {
    private static final Duration MOMENT = Duration.ofSeconds(2);
    private static final byte[] OTHERS = "of others".getBytes(StandardCharsets.US_ASCII);

    private final Path folder;
    private int folders;
    private MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private MemoryStore outside = cluster.connect();

    AbandonedCreationTest(@TempDir Path folder) {
        this.folder = folder;
    }

    /** What the process has, and what the next one has of it. */
    private enum Kind {
        /** A mount that ends with its process; the next one has its spool folder. */
        PLAIN,
        /** One that outlives it. */
        KEPT,
        /** The same, but the node has rebooted. */
        RETURNED
    }

    private Path newFolder() {
        return folder.resolve("folder-" + ++folders);
    }

    private MemoryMount first(Kind kind) {
        MemoryMount.Builder builder = MemoryMount.of(cluster.connect());
        return kind == Kind.PLAIN ? builder.in(newFolder()).open() : builder.openPersistent(newFolder(), null);
    }

    private MemoryMount next(Kind kind, MemoryMount before) {
        MemoryMount.Builder builder = MemoryMount.of(cluster.connect());
        if (kind == Kind.KEPT) {
            return builder.openPersistent(newFolder(), before);
        }
        if (kind == Kind.RETURNED) {
            return builder.openReturned(newFolder(), before);
        }
        Path left = newFolder();
        before.leaveTo(left);
        return builder.in(left).open();
    }

    private boolean isThere(String path) throws StoreException {
        return Existing.orNull(() -> outside.status(path)) != null;
    }

    /** Time passes until it is. */
    private void awaitGone(String path) throws Exception {
        Eventually.holds(path + " is gone", () -> {
            cluster.clock().advance(MOMENT);
            return !isThere(path);
        });
    }

    private static void failsWithEio(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    private void closeWhileTheMasterIsAway(MemoryMount mount) {
        OpenFile file = mount.create("/new").write("text");
        cluster.stopMaster();
        failsWithEio(file::close);
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"PLAIN", "KEPT"})
    void close_whileTheMasterIsAway_leavesNothingInTheWay(Kind kind) throws Exception {
        try (MemoryMount mount = first(kind)) {
            closeWhileTheMasterIsAway(mount);
            cluster.startMaster();
            assertThat(isThere("/new")).isTrue();
            awaitGone("/new");
            mount.write("/new", "again");
            assertThat(mount.read("/new")).isEqualTo("again");
        }
    }

    /** Before the incomplete file is removed by itself. */
    @Test
    void create_afterCloseThatFailed_takesTheName() throws Exception {
        try (MemoryMount mount = first(Kind.PLAIN)) {
            closeWhileTheMasterIsAway(mount);
            cluster.startMaster();
            mount.create("/new").write("again").close();
            assertThat(outside.status("/new").complete()).isTrue();
            cluster.clock().advance(MOMENT);
        }
        assertThat(cluster.ufs().read("/new")).asString().isEqualTo("again");
    }

    @Test
    void rename_toTheNameOfAFileWhoseCloseFailed_keepsTheRenamedFile() throws Exception {
        try (MemoryMount mount = first(Kind.PLAIN)) {
            mount.write("/other", "other");
            closeWhileTheMasterIsAway(mount);
            cluster.startMaster();
            mount.rename("/other", "/new");
            cluster.clock().advance(MOMENT);
        }
        assertThat(cluster.ufs().read("/new")).asString().isEqualTo("other");
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"PLAIN", "RETURNED"})
    void unmount_whileTheMasterIsAway_leavesTheRemovalToTheNextMount(Kind kind) throws Exception {
        MemoryMount ended = first(kind);
        closeWhileTheMasterIsAway(ended);
        ended.close();
        cluster.startMaster();
        assertThat(isThere("/new")).isTrue();
        try (MemoryMount next = next(kind, ended)) {
            awaitGone("/new");
            next.write("/new", "again");
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void kill_afterCreationWhoseAnswerWasLost_leavesTheRemovalToTheNextProcess(Kind kind) throws Exception {
        try (MemoryMount killed = first(kind)) {
            killed.faults().on(StoreCall.CREATE).always().loseAnswer();
            failsWithEio(() -> killed.create("/new"));
            killed.kill();
            assertThat(isThere("/new")).isTrue();
            try (MemoryMount next = next(kind, killed)) {
                awaitGone("/new");
                next.write("/new", "again");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"PLAIN", "RETURNED"})
    void kill_whileANewFileIsOpen_leavesTheRemovalToTheNextMount(Kind kind) throws Exception {
        try (MemoryMount killed = first(kind)) {
            killed.create("/new").write("text");
            killed.write("/complete", "text");
            killed.kill();
            assertThat(isThere("/new")).isTrue();
            try (MemoryMount next = next(kind, killed)) {
                awaitGone("/new");
                assertThat(next.read("/complete")).isEqualTo("text");
            }
        }
    }

    /** As an HDFS refuses it in safe mode: that says nothing of the file, which would be in everyone's way for good. */
    @Test
    void incompleteFile_whoseRemovalIsRefused_isRemovedLater() throws Exception {
        try (MemoryMount mount = first(Kind.PLAIN)) {
            closeWhileTheMasterIsAway(mount);
            StoreFaults.Fault refused = mount.faults().on(StoreCall.DELETE).always();
            refused.fail(Errno.EACCES);
            cluster.startMaster();
            Eventually.holds("it was tried", () -> {
                cluster.clock().advance(MOMENT);
                return mount.faults().count(StoreCall.DELETE) > 2;
            });
            refused.remove();
            awaitGone("/new");
            mount.write("/new", "again");
        }
    }

    /** Ids begin anew. */
    @Test
    void incompleteFileOfAnotherClient_stays_afterAFormat() throws Exception {
        try (MemoryMount killed = first(Kind.PLAIN)) {
            killed.create("/new").write("text");
            long fileId = outside.status("/new").id();
            killed.kill();
            cluster = cluster.formatted();
            cluster.clock().advance(MOMENT.multipliedBy(2));
            outside = cluster.connect();
            outside.create("/other", 0644, Map.of(), UUID.randomUUID());
            assertThat(outside.status("/other").id()).isEqualTo(fileId);
            try (MemoryMount next = next(Kind.PLAIN, killed)) {
                Eventually.holds("it is looked at", () -> {
                    cluster.clock().advance(MOMENT);
                    return next.faults().count(StoreCall.PATH_OF) > 0;
                });
            }
        }
        assertThat(isThere("/other")).isTrue();
    }

    @Test
    void incompleteFileOfAnotherClient_stays() throws Exception {
        try (MemoryMount mount = first(Kind.PLAIN)) {
            StoreFaults.Fault lost =
                    mount.faults().on(StoreCall.CREATE).always().loseAnswer();
            failsWithEio(() -> mount.create("/new"));
            outside.delete("/new");
            outside.create("/new", 0644, Map.of(), UUID.randomUUID());
            lost.remove();
            mount.faults().forgetCounts();
            Eventually.holds("it is looked at", () -> {
                cluster.clock().advance(MOMENT);
                return mount.faults().count(StoreCall.STATUS) > 0;
            });
        }
        assertThat(isThere("/new")).isTrue();
    }

    /** Another client has put its object there meanwhile, of which Alluxio knows nothing. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void objectOfAnotherClient_staysWhenACreationIsUndone(boolean done) throws Exception {
        onObjectStore();
        try (MemoryMount mount = first(Kind.PLAIN)) {
            StoreFaults.Fault lost = mount.faults().on(StoreCall.CREATE).always();
            failsWithEio(() -> {
                (done ? lost.loseAnswer() : lost.loseRequest()).at("/new");
                mount.create("/new");
            });
            cluster.ufs().write("/new", OTHERS);
            lost.remove();
            Eventually.holds("it is settled", () -> {
                cluster.clock().advance(MOMENT);
                return isThere("/new") && outside.status("/new").complete();
            });
            assertThat(mount.read("/new")).isEqualTo("of others");
        }
        assertThat(cluster.ufs().read("/new")).isEqualTo(OTHERS);
    }

    @Test
    void objectOfAnotherClient_staysWhenTheNextMountRemovesAnIncompleteFile() throws Exception {
        onObjectStore();
        try (MemoryMount killed = first(Kind.PLAIN)) {
            killed.create("/new");
            killed.kill();
            cluster.ufs().write("/new", OTHERS);
            try (MemoryMount next = next(Kind.PLAIN, killed)) {
                Eventually.holds("it is settled", () -> {
                    cluster.clock().advance(MOMENT);
                    return isThere("/new") && outside.status("/new").complete();
                });
                assertThat(next.read("/new")).isEqualTo("of others");
            }
        }
    }

    private void onObjectStore() {
        cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        outside = cluster.connect();
    }

    /** The incomplete file would hide what the store has there by then. */
    @Test
    void rename_overNewFileThatIsOpen_isSeen_whenTheMasterDiesAfterTheCopy() throws Exception {
        onObjectStore();
        try (MemoryMount mount = first(Kind.PLAIN)) {
            mount.write("/from", "content");
            try (OpenFile open = mount.create("/to")) {
                open.write("of nobody");
                mount.faults().on(StoreCall.RENAME).dieAfterTheCopy();
                mount.rename("/from", "/to");
                assertThat(outside.status("/to").complete()).isTrue();
                assertThat(isThere("/from")).isFalse();
                assertThat(open.readText()).isEqualTo("of nobody");
            }
            assertThat(mount.read("/to")).isEqualTo("content");
        }
        assertThat(cluster.ufs().read("/to")).asString().isEqualTo("content");
    }

    @Test
    void rename_overNewFileThatIsOpen_leavesItWhole_whenItFails() throws Exception {
        onObjectStore();
        try (MemoryMount mount = first(Kind.PLAIN)) {
            mount.write("/from", "content");
            try (OpenFile open = mount.create("/to")) {
                mount.faults().on(StoreCall.RENAME).fail(Errno.EACCES);
                assertThatThrownBy(() -> mount.rename("/from", "/to")).isInstanceOf(FuseFailure.class);
                open.write("new");
                assertThat(mount.exists("/to")).isTrue();
            }
            assertThat(mount.read("/to")).isEqualTo("new");
            assertThat(mount.read("/from")).isEqualTo("content");
        }
    }
}
