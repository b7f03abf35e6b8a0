package io.posixgateway.alluxio.store.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.Moment;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Surprises of Alluxio 2.9.3 that no test can bring about at will, as the store in memory repeats them. Each says where it was
 * seen: in a run of the real servers, or in the code of the master; and where the gateway works around it.
 */
class RecordedTracesTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryStore store = cluster.connect();
    private final MemoryStore other = cluster.connect();

    private static void put(StoreWriter sink, String text) throws StoreException {
        sink.write(ContractCase.bytes(text), 0, ContractCase.bytes(text).length);
    }

    private static void fails(int errno, ContractCase.Act act) {
        ContractCase.assertFails(errno, act);
    }

    private String outside(String path) {
        byte[] content = cluster.ufs().read(path);
        return content == null ? "" : new String(content, java.nio.charset.StandardCharsets.UTF_8);
    }

    private static List<String> list(Store by, String path) throws StoreException {
        return ContractCase.names(by.list(path, "", 100));
    }

    /**
     * InodeSyncStream.loadMetadata: the names are listed in the UFS, then made where they are missing. Seen by names deleted and
     * renamed under load while a second client lists for the first time. LoadMetadataRaceGuard, Metadata.compared, Dentries.wasTaken.
     */
    @Test
    void firstListing_revivesANameThatIsDeletedMeanwhile() throws Exception {
        store.makeDirectory("/dir", 0755, Map.of());
        long id = ContractCase.write(store, "/dir/file", "content");
        cluster.at(Moment.NAMES_LISTED_IN_UFS, path -> unchecked(() -> other.delete("/dir/file")));
        assertThat(list(store, "/dir")).containsExactly("file");
        FileStatus revived = store.status("/dir/file");
        assertThat(revived.id()).isNotEqualTo(id);
        assertThat(cluster.ufs().exists("/dir/file")).isFalse();
        fails(Errno.EEXIST, () -> ContractCase.begin(store, "/dir/file"));
        fails(Errno.ENOENT, () -> store.compared("/dir/file"));
        ContractCase.write(store, "/dir/file", "again");
    }

    /** The same of a renamed file, which then has two names in Alluxio. Later listings load nothing, and revive nothing. */
    @Test
    void firstListing_revivesTheOldNameOfARenamedFile() throws Exception {
        store.makeDirectory("/dir", 0755, Map.of());
        ContractCase.write(store, "/dir/file", "content");
        cluster.at(Moment.NAMES_LISTED_IN_UFS, path -> unchecked(() -> other.rename("/dir/file", "/dir/new", false)));
        assertThat(list(store, "/dir")).containsExactly("file", "new");
        assertThat(cluster.ufs().list("/dir")).containsExactly("new");
        store.compared("/dir/new");
        fails(Errno.ENOENT, () -> store.compared("/dir/file"));
        store.rename("/dir/new", "/dir/file", false);
        assertThat(list(store, "/dir")).containsExactly("file");
    }

    /** Seen in listings in parts beside renames: the order of names is broken by one that lies elsewhere. Store.Page.truncateAtStableCursor. */
    @Test
    void listing_showsAFileThatIsBeingRenamed_atItsOldPlaceWithItsNewName() throws Exception {
        for (String name : List.of("a", "b", "c", "d")) {
            ContractCase.write(store, "/" + name, name);
        }
        List<Store.Page> seen = new ArrayList<>();
        cluster.at(Moment.NAME_CHANGED, path -> unchecked(() -> seen.add(other.list("/", "", 3))));
        store.rename("/c", "/z", false);
        assertThat(ContractCase.names(seen.get(0))).containsExactly("a", "b", "z");
        assertThat(ContractCase.names(seen.get(0).truncateAtStableCursor())).containsExactly("a", "b");
    }

    /** Seen in listings beside files that are replaced all the time. Metadata.stands, Dentries.replacing. */
    @Test
    void listing_lacksAFileThatIsBeingReplaced() throws Exception {
        ContractCase.write(store, "/file", "old");
        ContractCase.write(store, "/new", "new");
        assertThat(list(store, "/")).containsExactly("file", "new");
        List<List<String>> seen = new ArrayList<>();
        cluster.at(Moment.TARGET_DROPPED, path -> unchecked(() -> seen.add(list(other, "/"))));
        store.rename("/new", "/file", true);
        assertThat(seen).containsExactly(List.of("new"));
        assertThat(list(other, "/")).containsExactly("file");
    }

    /**
     * Operation ids are journaled with each entry, and a rename over a file writes two: after a change of master that kept the
     * first alone, the repeated call counts as done. Read from the code of the master. MasterClient, FileReplacer.
     */
    @Test
    void renameOverFile_whoseFirstEntryAloneSurvived_countsAsDone() throws Exception {
        ContractCase.write(store, "/file", "old");
        long id = ContractCase.write(store, "/new", "new");
        assertThat(list(store, "/")).containsExactly("file", "new");
        store.faults().on(StoreCall.RENAME).keepOnlyFirstEntry();
        assertThatThrownBy(() -> store.rename("/new", "/file", true))
                .isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.isOfRepetition())
                        .isTrue());
        assertThat(store.pathOf(id)).isEqualTo("/new");
        assertThat(list(store, "/")).containsExactly("new");
        assertThat(outside("/file")).isEqualTo("old");
        store.rename("/new", "/file", true);
        assertThat(outside("/file")).isEqualTo("new");
    }

    /**
     * A worker stopped with SIGSTOP while files were sent to it, and continued after their writers had given up and written them
     * through another one. StaleWorkerWrites, Doubtful.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void workerThatStopped_writesOrRemovesTooLate(boolean removes) throws Exception {
        MemoryCluster two = new MemoryCluster(MemoryUfs.Kind.LOCAL, 2, 1 << 20, null);
        two.staleWorkerWritesRemove(removes);
        MemoryStore client = two.connect();
        StoreWriter first = ContractCase.begin(client, "/file");
        put(first, "first");
        two.workers().get(0).stop();
        assertThatThrownBy(first::complete)
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.isUnanswered()).isTrue());
        first.cancel();
        assertThat(first.isQuiescent()).isFalse();
        client.delete("/file");
        ContractCase.write(client, "/file", "second");
        two.workers().get(0).resume();
        assertThat(first.isQuiescent()).isTrue();
        assertThat(client.status("/file").lengthBytes()).isEqualTo(6);
        byte[] below = two.ufs().read("/file");
        assertThat(below == null ? "" : new String(below, java.nio.charset.StandardCharsets.UTF_8))
                .isEqualTo(removes ? "" : "first");
    }

    /** Written through the only worker while it is stopped, it fails, unanswered; with a killed one, too. Committer.commit. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void writing_withoutAWorker_isUnanswered(boolean killed) throws Exception {
        StoreWriter sink = ContractCase.begin(store, "/file");
        if (killed) {
            cluster.workers().get(0).kill();
        } else {
            cluster.workers().get(0).stop();
        }
        assertThatThrownBy(() -> put(sink, "x"))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.isUnanswered()).isTrue());
        sink.cancel();
        cluster.workers().get(0).resume();
        store.delete("/file");
        ContractCase.write(store, "/file", "x");
        assertThat(outside("/file")).isEqualTo("x");
    }

    /** What only workers hold cannot be evicted: ENOSPC; what is in the UFS, too, is written all the same, and not cached. */
    @ParameterizedTest
    @EnumSource(names = {"MUST_CACHE", "CACHE_THROUGH"})
    void fullWorker_refusesWhatGoesToWorkersAlone(WriteType type) throws Exception {
        MemoryCluster small = new MemoryCluster(MemoryUfs.Kind.LOCAL, 1, 4, null);
        ContractCase.write(small.connect(WriteType.MUST_CACHE), "/full", "full");
        MemoryStore client = small.connect(type);
        StoreWriter sink = ContractCase.begin(client, "/file");
        put(sink, "x");
        if (type == WriteType.MUST_CACHE) {
            fails(Errno.ENOSPC, sink::complete);
            return;
        }
        sink.complete();
        assertThat(client.details("/file").inAlluxioPercent()).isZero();
    }

    /** Written with ASYNC_THROUGH: in workers alone until the job service has persisted it. AsyncThroughIT shows it. */
    @Test
    void asyncThrough_isInTheUfsLater() throws Exception {
        MemoryStore async = cluster.connect(WriteType.ASYNC_THROUGH);
        long id = ContractCase.write(async, "/file", "content");
        assertThat(async.persists()).isFalse();
        assertThat(outside("/file")).isEmpty();
        cluster.persist("/file");
        assertThat(outside("/file")).isEqualTo("content");
        assertThat(async.compared("/file").id()).isEqualTo(id);
    }

    /**
     * Alluxio 2.9.3 over an S3 server, not asked to persist what is renamed: ObjectUnderFileSystem.renameFile answers false where the
     * destination exists, after the old file was dropped in Alluxio; it comes back with mode 0700 and without attributes.
     * FileReplacer gives them back.
     */
    @Test
    void objectStore_refusesARenameOverAFile_whichLosesItsAttributes() throws Exception {
        MemoryCluster objects = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryStore client = objects.connect().withoutPersistOnRename();
        long old = ContractCase.write(client, "/file", "old");
        client.change("/file", ContractCase.change(0640, Map.of("user.a", ContractCase.bytes("1"))));
        long id = ContractCase.write(client, "/new", "new content");
        fails(Errno.EIO, () -> client.rename("/new", "/file", true));
        fails(Errno.ENOENT, () -> client.pathOf(old));
        FileStatus back = client.status("/file");
        assertThat(back.lengthBytes()).isEqualTo(3);
        assertThat(back.mode()).isEqualTo(0700);
        assertThat(back.owner()).isEmpty();
        assertThat(back.xattrs()).isEmpty();
        assertThat(client.pathOf(id)).isEqualTo("/new");
    }

    /** The same server: a rename copies the object and deletes the old one; directories without a marker object cannot be renamed. */
    @Test
    void objectStore_renamesByCopying_andNoDirectoryThatIsJustAPrefix() throws Exception {
        MemoryCluster objects = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryStore client = objects.connect();
        long id = ContractCase.write(client, "/file", "content");
        objects.clock().advance(Duration.ofSeconds(1));
        client.rename("/file", "/renamed", false);
        assertThat(client.compared("/renamed").id()).isEqualTo(id);
        objects.ufs().write("/prefix/object", ContractCase.bytes("x"));
        assertThat(list(client, "/prefix")).containsExactly("object");
        fails(Errno.EIO, () -> client.rename("/prefix", "/moved", false));
        client.makeDirectory("/marked", 0755, Map.of());
        ContractCase.write(client, "/marked/file", "x");
        client.rename("/marked", "/moved", false);
        assertThat(objects.ufs().exists("/moved/file")).isTrue();
    }

    /**
     * The same server, asked to persist what is renamed: one call deletes the object, copies and deletes, the attributes go with the
     * file, and a later comparison leaves them. Others do not miss the name in Alluxio: who asks for it, or where the file is, waits.
     */
    @Test
    void objectStore_replacesAFileByDeletingCopyingAndDeleting() throws Exception {
        MemoryCluster objects = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryStore client = objects.connect();
        long id = replaceable(client);
        List<Boolean> there = new ArrayList<>();
        List<AsyncCall> waiting = new ArrayList<>();
        objects.at(Moment.TARGET_DROPPED, path -> {
            there.add(objects.ufs().exists("/file"));
            there.add(objects.ufs().exists("/new"));
            waiting.add(AsyncCall.start(() -> assertThat(client.pathOf(id)).isEqualTo("/file")));
            waiting.add(AsyncCall.start(
                    () -> assertThat(client.status("/file").id()).isEqualTo(id)));
        });
        client.rename("/new", "/file", true);
        assertThat(there).containsExactly(false, true);
        for (AsyncCall call : waiting) {
            call.await();
        }
        objects.clock().advance(Duration.ofSeconds(1));
        FileStatus after = client.compared("/file");
        assertThat(after.id()).isEqualTo(id);
        assertThat(after.mode()).isEqualTo(0640);
        assertThat(after.xattrs()).containsKey("user.a");
        assertThat(objects.ufs().list("/")).containsExactly("file");
    }

    /** A file to be replaced, and one beside it; the id of that. */
    private static long replaceable(MemoryStore client) throws StoreException {
        ContractCase.write(client, "/file", "old");
        long id = ContractCase.write(client, "/new", "new content");
        client.change("/new", ContractCase.change(0640, Map.of("user.a", ContractCase.bytes("1"))));
        return id;
    }

    /** The same where a directory is by then: checkForOverwriteSyntax does not ask. Renames looks just before. */
    @Test
    void objectStore_replacesADirectory_withAllThatIsBelowIt() throws Exception {
        MemoryCluster objects = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryStore client = objects.connect();
        long id = ContractCase.write(client, "/new", "new content");
        client.faults()
                .on(StoreCall.RENAME)
                .before(() -> unchecked(() -> {
                    client.makeDirectory("/dir", 0755, Map.of());
                    ContractCase.write(client, "/dir/below", "x");
                    objects.ufs().write("/dir/unknown", ContractCase.bytes("x"));
                }));
        client.rename("/new", "/dir", true);
        assertThat(client.status("/dir").id()).isEqualTo(id);
        assertThat(objects.ufs().list("/")).containsExactly("dir");
        assertThat(objects.ufs().read("/dir")).asString().isEqualTo("new content");
    }

    /** The same when the master is killed while it copies: the name is missing in both, the other file whole. FileReplacer. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void objectStore_whoseMasterIsKilledInTheCopy_hasNeitherFileAtTheName(boolean journaled) throws Exception {
        MemoryCluster objects = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryStore client = objects.connect();
        long id = replaceable(client);
        client.faults().on(StoreCall.RENAME).dieInTheCopy(journaled);
        fails(Errno.EIO, () -> client.rename("/new", "/file", true));
        assertThat(objects.ufs().list("/")).containsExactly("new");
        fails(Errno.ENOENT, () -> client.compared("/file"));
        assertThat(client.pathOf(id)).isEqualTo("/new");
        client.rename("/new", "/file", false);
        assertThat(objects.ufs().read("/file")).asString().isEqualTo("new content");
        assertThat(client.status("/file").mode()).isEqualTo(0640);
    }

    /**
     * The same when it is killed after the last step in the store, and the client sends the rename again, as Alluxio's does: the master
     * deletes what it had put there, and there is nothing more to copy. RenameClients sends it once.
     */
    @Test
    void objectStore_whoseMasterIsKilledAfterTheCopy_losesAFileThatIsReplacedAgain() throws Exception {
        MemoryCluster objects = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryStore client = objects.connect().repeatingReplacements();
        replaceable(client);
        client.faults().on(StoreCall.RENAME).dieAfterTheCopy();
        fails(Errno.EIO, () -> client.rename("/new", "/file", true));
        assertThat(objects.ufs().list("/")).isEmpty();
    }

    /** A copy in parts has another ETag: the next comparison takes it for another file, which has no attributes. */
    @Test
    void objectStore_thatCopiesInParts_losesAttributesWithAComparison() throws Exception {
        MemoryCluster objects = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        objects.ufs().copyInPartsFrom(5);
        MemoryStore client = objects.connect();
        long id = replaceable(client);
        client.rename("/new", "/file", true);
        assertThat(client.status("/file").mode()).isEqualTo(0640);
        FileStatus after = client.compared("/file");
        assertThat(after.id()).isNotEqualTo(id);
        assertThat(after.mode()).isEqualTo(0700);
        assertThat(after.xattrs()).isEmpty();
        client.change("/file", ContractCase.change(0640, Map.of()));
        assertThat(client.compared("/file").mode()).as("it stays from then on").isEqualTo(0640);
    }

    /** Work that cannot fail in the test. */
    private static void unchecked(ContractCase.Act act) {
        try {
            act.run();
        } catch (StoreException e) {
            throw new AssertionError(e);
        }
    }
}
