package io.posixgateway.alluxio.write;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The answer to a rename is lost, and what has the new name by then is the renamed file, or another one that is as long. */
class RenamedFileIdentityTest {
    private static final String OLD = "old";
    private static final String NEW = "new content";
    private static final String OTHERS = "not our one";

    private static void failsWithEio(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    /** Another user of the under file system has removed the renamed file, and put one of its own under the new name. */
    private static Runnable takesOver(MemoryCluster cluster, String from, String to) {
        assertThat(OTHERS).hasSameSizeAs(NEW);
        return () -> {
            cluster.clock().advance(Duration.ofSeconds(5));
            MemoryUfs ufs = cluster.ufs();
            ufs.list("/").stream().filter(name -> name.startsWith(from)).forEach(name -> ufs.delete("/" + name));
            ufs.write(to, OTHERS.getBytes(UTF_8));
        };
    }

    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void renameOver_whereAnotherFileHasTheName_isNotReportedAsDone(MemoryUfs.Kind kind) throws StoreException {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", OLD);
            mount.write("/new", NEW);
            mount.faults()
                    .on(StoreCall.RENAME)
                    .before(takesOver(cluster, "new", "/file"))
                    .loseRequest();
            failsWithEio(() -> mount.rename("/new", "/file"));
            mount.dropCaches();
            assertThat(mount.read("/file")).isEqualTo(OTHERS);
        }
    }

    /** Which is not taken for it: what was written is still in the spool, and uploaded again. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void commit_whereAnotherFileHasTheName_keepsTheContent(MemoryUfs.Kind kind) throws StoreException {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", OLD);
            mount.faults()
                    .on(StoreCall.RENAME)
                    .before(takesOver(cluster, ".pgw~", "/file"))
                    .loseRequest();
            try (MemoryMount.OpenFile file = mount.openToWrite("/file")) {
                file.truncate(0);
                file.write(NEW);
                mount.requests().flush(file.opened());
            } catch (FuseFailure e) {
                assertThat(e.errno()).isEqualTo(Errno.EIO);
            }
            assertThat(cluster.ufs().read("/file")).asString().isEqualTo(NEW);
            assertThat(cluster.ufs().list("/")).containsExactly("file");
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void renameToFreeName_whereAnotherFileHasTheName_isNotReportedAsDone(MemoryUfs.Kind kind) throws StoreException {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/new", NEW);
            mount.faults()
                    .on(StoreCall.RENAME)
                    .before(takesOver(cluster, "new", "/free"))
                    .loseRequest();
            failsWithEio(() -> mount.rename("/new", "/free"));
            assertThat(cluster.ufs().read("/free")).asString().isEqualTo(OTHERS);
        }
    }

    /** The under file system has done it, and the master's journal has nothing of that: the content tells, and the attributes stay. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void renameOver_thatOnlyTheUnderFileSystemNoted_isReportedAsDone(MemoryUfs.Kind kind) throws StoreException {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", OLD);
            cluster.clock().advance(Duration.ofSeconds(5));
            mount.write("/new", NEW);
            mount.requests().setxattr(mount.lookup("/new").id(), "user.a", "1");
            long node = mount.lookup("/new").id();
            mount.faults().on(StoreCall.RENAME).dieAfterTheCopy();
            mount.rename("/new", "/file");
            assertThat(mount.list("/")).containsExactly("file");
            assertThat(mount.read("/file")).isEqualTo(NEW);
            assertThat(mount.lookup("/file").id()).isEqualTo(node);
            mount.dropCaches();
            assertThat(mount.requests().getxattr(mount.lookup("/file").id(), "user.a"))
                    .isEqualTo("1");
        }
    }

    /** A copy in parts has another ETag: nobody knows whether it is one. It stays, with the attributes. */
    @Test
    void rename_thatOnlyTheStoreNoted_byACopyInParts_keepsContentAndAttributes() {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        cluster.ufs().copyInPartsFrom(1);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/new", NEW);
            mount.requests().setxattr(mount.lookup("/new").id(), "user.a", "1");
            mount.faults().on(StoreCall.RENAME).dieAfterTheCopy();
            failsWithEio(() -> mount.rename("/new", "/free"));
            assertThat(mount.list("/")).containsExactly("free");
            assertThat(mount.read("/free")).isEqualTo(NEW);
            assertThat(mount.requests().getxattr(mount.lookup("/free").id(), "user.a"))
                    .isEqualTo("1");
        }
    }

    /** Alluxio was restored from a backup meanwhile, and has given the id of the renamed file to another one. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void renameOver_whereAnotherFileHasTheId_isNotReportedAsDone(MemoryUfs.Kind kind) throws StoreException {
        MemoryCluster cluster = new MemoryCluster(kind);
        MemoryStore store = cluster.connect();
        try (MemoryMount mount = MemoryMount.of(store).open()) {
            mount.write("/file", OLD);
            mount.write("/new", NEW);
            mount.stat("/new");
            mount.faults()
                    .on(StoreCall.RENAME)
                    .before(() -> restore(store, cluster.formatted()))
                    .loseRequest();
            failsWithEio(() -> mount.rename("/new", "/file"));
            assertThat(cluster.ufs().read("/file")).asString().isEqualTo(OLD);
        }
    }

    private static void restore(MemoryStore store, MemoryCluster restored) {
        restored.isRestored(store.memory());
        restored.clock().advance(Duration.ofMinutes(5));
        try {
            long before = store.status("/new").id();
            Store client = restored.connect();
            client.status("/new");
            assertThat(client.status("/file").id()).isEqualTo(before);
            store.answeredBy(restored);
        } catch (StoreException e) {
            throw new AssertionError(e);
        }
    }
}
