package io.posixgateway.alluxio.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How Alluxio 2.9 surprises, each with where the gateway works around it. A store in memory without these would prove nothing.
 */
abstract class QuirksContract extends ContractCase {
    private static final int MIB = 1 << 20;

    QuirksContract(StoreFixture fixture) throws StoreException {
        super(fixture);
    }

    /**
     * A rename over a file drops what is at the target, here alone, whatever it is and with all that is below it, before it finds
     * that the UFS refuses; it comes back from there, without attributes and as another. So a directory is refused before.
     */
    @Test
    void renameOverDirectory_isRefused_andDropsNothing() throws Exception {
        write(at("file"), "x");
        store.makeDirectory(at("dir"), 0755, Map.of("user.a", bytes("1")));
        long dir = store.status(at("dir")).id();
        long below = write(at("dir/below"), "content");
        assertFails(Errno.EISDIR, () -> store.rename(at("file"), at("dir"), true));
        assertThat(store.status(at("dir")).id()).isEqualTo(dir);
        assertThat(store.status(at("dir/below")).id()).isEqualTo(below);
    }

    /** The same with a directory over a file; FileReplacer.replace looks before. */
    @Test
    void renameOfDirectoryOverFile_dropsTheFile_thoughItFails() throws Exception {
        assumeRenamesReplace();
        store.makeDirectory(at("dir"), 0755, Map.of());
        long file = write(at("file"), "content");
        assertFails(Errno.EIO, () -> store.rename(at("dir"), at("file"), true));
        assertFails(Errno.ENOENT, () -> store.pathOf(file));
        assertThat(read(at("file"))).isEqualTo("content");
        assertThat(store.status(at("dir")).directory()).isTrue();
    }

    /** What only workers had is lost when the UFS refuses a rename over it. FileReplacer.isSentInOneStep gives the new file its name. */
    @Test
    void renameOverCachedFile_dropsIt_thoughTheUfsRefuses() throws Exception {
        long there = write(fixture.client(WriteType.MUST_CACHE, 0), at("there"), "in workers only");
        long id = write(at("new"), "content");
        fixture.deleteOutside(at("new"));
        assertFails(Errno.EIO, () -> store.rename(at("new"), at("there"), true));
        assertFails(Errno.ENOENT, () -> store.pathOf(there));
        assertFails(Errno.ENOENT, () -> store.compared(at("there")));
        assertThat(store.pathOf(id)).isEqualTo(at("new"));
        assertThat(store.status(at("new")).lengthBytes()).isEqualTo(7);
    }

    /** What only workers have replaces a file in Alluxio alone: a comparison brings the old one back. A client that writes so, too, deletes it. */
    @Test
    void renameOfCachedFileOverPersisted_leavesTheOldOneInTheUfs() throws Exception {
        assumeRenamesReplace();
        write(fixture.client(WriteType.MUST_CACHE, 0), at("new"), "new content");
        write(at("there"), "old");
        store.rename(at("new"), at("there"), true);
        assertThat(read(at("there"))).isEqualTo("new content");
        assertThat(outside(at("there"))).isEqualTo("old");
        assertThat(store.compared(at("there")).lengthBytes()).isEqualTo(3);
        assertThat(read(at("there"))).isEqualTo("old");
    }

    @ParameterizedTest
    @EnumSource(names = {"MUST_CACHE", "ASYNC_THROUGH"})
    void renameOfCachedFileOverPersisted_byAClientThatWritesSo_leavesNothingOfTheOldOne(WriteType type)
            throws Exception {
        Store cached = fixture.client(type, 0);
        write(at("there"), "old");
        write(cached, at("new"), "new content");
        cached.rename(at("new"), at("there"), true);
        assertThat(outside(at("there"))).isNotEqualTo("old");
        assertThat(cached.compared(at("there")).lengthBytes()).isEqualTo(11);
        assertThat(read(at("there"))).isEqualTo("new content");
    }

    /** A file that goes to the UFS cannot be renamed before it is complete: the UFS does not have it. Dirty files.move commits first. */
    @Test
    void rename_ofIncompleteFile_isEio() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        assertFails(Errno.EIO, () -> store.rename(at("file"), at("renamed"), false));
        assertThat(store.pathOf(sink.fileId())).isEqualTo(at("file"));
        put(sink, "content");
        sink.complete();
        assertThat(read(at("file"))).isEqualTo("content");
    }

    /** One that goes to workers alone can; then its writer completes what is at the old path: nothing. Dirty files.move, StoreWriter.isAt. */
    @Test
    void rename_ofIncompleteCachedFile_losesItForItsWriter() throws Exception {
        Store cached = fixture.client(WriteType.MUST_CACHE, 0);
        StoreWriter sink = begin(cached, at("file"));
        cached.rename(at("file"), at("renamed"), false);
        assertFails(Errno.EIO, () -> {
            put(sink, "content");
            sink.complete();
        });
        assertThat(cached.status(at("renamed")).complete()).isFalse();
        sink.cancel();
    }

    /** Once its name is that of another file, the next block of one that goes to workers alone is that file's. WorkerOutStream compares. */
    @Test
    void block_ofAFileWhoseNameIsAnothers_isWrittenToNone() throws Exception {
        Store cached = fixture.client(WriteType.MUST_CACHE, 0);
        StoreWriter sink = begin(cached, at("file"));
        cached.rename(at("file"), at("renamed"), false);
        StoreWriter others = begin(fixture.client(WriteType.MUST_CACHE, 1), at("file"));
        assertFails(Errno.EIO, () -> {
            put(sink, "content");
            sink.complete();
        });
        sink.cancel();
        FileStatus there = cached.status(at("file"));
        assertThat(there.id()).isEqualTo(others.fileId());
        assertThat(there.complete()).isFalse();
        others.cancel();
    }

    /** The number of a creation that was done answers whatever is at the path by now. Reservations.undo compares ids and state. */
    @Test
    void createWithUsedNumber_answersWhatIsThereByNow() throws Exception {
        UUID number = UUID.randomUUID();
        StoreWriter first = store.create(at("file"), 0600, Map.of(), number);
        assertThat(store.create(at("file"), 0644, Map.of(), number).fileId()).isEqualTo(first.fileId());
        store.delete(at("file"));
        assertFails(Errno.ENOENT, () -> store.create(at("file"), 0644, Map.of(), number));
        assertThat(list(at(""))).isEmpty();
        long others = write(at("file"), "others'");
        assertThat(store.create(at("file"), 0644, Map.of(), number).fileId()).isEqualTo(others);
        long elsewhere = write(at("elsewhere"), "x");
        assertThat(store.create(at("elsewhere"), 0644, Map.of(), number).fileId())
                .isEqualTo(elsewhere);
        assertThat(read(at("file"))).isEqualTo("others'");
    }

    /** A number whose creation was refused is not used up. */
    @Test
    void createWithNumberOfARefusedOne_creates() throws Exception {
        UUID number = UUID.randomUUID();
        long there = write(at("file"), "x");
        assertFails(Errno.EEXIST, () -> store.create(at("file"), 0644, Map.of(), number));
        store.delete(at("file"));
        assertThat(store.create(at("file"), 0644, Map.of(), number).fileId()).isNotEqualTo(there);
    }

    /** The master completes what is at the path: another's file, with this one's length. Committer.checkOurs looks first. */
    @Test
    void complete_goesByThePath_andCompletesAnothersFile() throws Exception {
        StoreWriter mine = begin(store, at("file"));
        put(mine, "mine");
        store.delete(at("file"));
        StoreWriter others = begin(store, at("file"));
        mine.complete();
        FileStatus there = store.status(at("file"));
        assertThat(there.id()).isEqualTo(others.fileId());
        assertThat(there.complete()).isTrue();
        assertThat(there.lengthBytes()).isEqualTo(4);
        put(others, "others'");
        assertFails(Errno.EIO, others::complete);
    }

    /** Where another's whole file is, it fails; by then the worker has overwritten that in the UFS. Committer.checkOurs. */
    @Test
    void complete_whereAnothersWholeFileIs_overwritesItInTheUfs() throws Exception {
        StoreWriter mine = begin(store, at("file"));
        put(mine, "mine");
        store.delete(at("file"));
        long others = write(at("file"), "others'");
        assertFails(Errno.EIO, mine::complete);
        assertThat(store.status(at("file")).id()).isEqualTo(others);
        assertThat(store.status(at("file")).lengthBytes()).isEqualTo(7);
        assertThat(outside(at("file"))).isEqualTo("mine");
    }

    /** The file of one that was deleted meanwhile is left in the UFS, and comes back as another file. Committer.checkOurs. */
    @Test
    void complete_ofDeletedFile_failsAndLeavesItInTheUfs() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        store.delete(at("file"));
        put(sink, "content");
        assertFails(Errno.EIO, sink::complete);
        assertThat(outside(at("file"))).isEqualTo("content");
        FileStatus back = store.status(at("file"));
        assertThat(back.id()).isNotEqualTo(sink.fileId());
        assertThat(read(at("file"))).isEqualTo("content");
    }

    /** What is written while a directory above is renamed goes to the old place in the UFS. Dirty files.completeStreams, StoreWriter.isAt. */
    @Test
    void complete_afterARenameAbove_failsAndLeavesTheFileAtTheOldPlace() throws Exception {
        store.makeDirectory(at("dir"), 0755, Map.of());
        StoreWriter sink = begin(store, at("dir/file"));
        put(sink, "content");
        store.rename(at("dir"), at("moved"), false);
        assertFails(Errno.EIO, sink::complete);
        assertThat(store.pathOf(sink.fileId())).isEqualTo(at("moved/file"));
        assertThat(store.status(at("moved/file")).complete()).isFalse();
        assertThat(outside(at("dir/file"))).isEqualTo("content");
        assertThat(fixture.listOutside(at("moved"))).isEmpty();
    }

    /** Cancelling what was sent to a worker removes nothing that another put at the path, as long as the worker goes on. */
    @Test
    void cancel_whereAnothersFileIs_leavesIt() throws Exception {
        StoreWriter mine = begin(store, at("file"));
        put(mine, "mine");
        store.delete(at("file"));
        write(at("file"), "others'");
        mine.cancel();
        assertThat(read(at("file"))).isEqualTo("others'");
        assertThat(outside(at("file"))).isEqualTo("others'");
    }

    /** A name that is gone in the UFS cannot be taken until it is compared. Reservations.taking. */
    @Test
    void create_whereAlluxioAloneHasTheName_isEexistUntilCompared() throws Exception {
        write(at("file"), "x");
        fixture.deleteOutside(at("file"));
        assertFails(Errno.EEXIST, () -> begin(store, at("file")));
        assertFails(Errno.ENOENT, () -> store.compared(at("file")));
        write(at("file"), "content");
        assertThat(outside(at("file"))).isEqualTo("content");
    }

    /** What was looked for once in vain stays missing to all clients, though the UFS has it by then. Told to users; Metadata.compared. */
    @Test
    void status_ofWhatWasOnceMissing_staysMissingUntilCompared() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        // Alluxio notes on a thread of its own which part of a path was missing: who makes it at once may come first.
        Eventually.holds(
                "a directory and its name stay missing", () -> staysMissing(at("dir" + tries.incrementAndGet())));
        String directory = at("dir" + tries.get());
        assertThat(store.compared(directory + "/file").lengthBytes()).isEqualTo(7);
        assertThat(read(directory + "/file")).isEqualTo("content");
    }

    private boolean staysMissing(String directory) throws Exception {
        String path = directory + "/file";
        assertFails(Errno.ENOENT, () -> store.status(path));
        fixture.writeOutside(path, bytes("content"));
        return isMissing(() -> store.list(directory, "", 10)) && isMissing(() -> store.status(path));
    }

    private static boolean isMissing(Act look) {
        try {
            look.run();
            return false;
        } catch (StoreException e) {
            return e.errno() == Errno.ENOENT;
        }
    }

    /** A directory that seems empty cannot be deleted while the UFS has something in it. NameOperations.removeDirectory. */
    @Test
    void delete_ofDirectoryWithNamesThatAlluxioDoesNotKnow_isEnotempty() throws Exception {
        store.makeDirectory(at("dir"), 0755, Map.of());
        assertThat(list(at("dir"))).isEmpty();
        fixture.writeOutside(at("dir/others"), bytes("x"));
        assertThat(list(at("dir"))).isEmpty();
        assertFails(Errno.ENOTEMPTY, () -> store.delete(at("dir")));
        assertThat(outside(at("dir/others"))).isEqualTo("x");
    }

    /**
     * What no worker has is read from the UFS by the path that the file had when it was opened: another file's bytes, when that
     * changed hands. VersionCheck finds that out; OpenReaders before, for renames of the same client.
     */
    @Test
    void read_ofUncachedFileWhosePathChangedHands_isOfTheFileWhereItIs() throws Exception {
        Store reader = fixture.client(WriteType.THROUGH, 1);
        Store writer = fixture.client(WriteType.THROUGH, 0);
        long id = write(writer, at("file"), "of mine");
        try (StoreReader source = reader.open(at("file"), id)) {
            writer.rename(at("file"), at("renamed"), false);
            write(writer, at("file"), "others'");
            ByteBuffer into = ByteBuffer.allocate(7);
            assertThat(source.read(0, into)).isEqualTo(7);
            assertThat(into.array()).asString().isEqualTo("of mine");
        }
    }

    /** A directory can be opened as a file: its length is the number of its names, of which nothing can be read. */
    @Test
    void open_ofDirectory_failsOnlyWhenItIsRead() throws Exception {
        long id = store.status(at("")).id();
        try (StoreReader source = store.open(at(""), id)) {
            assertThat(source.read(0, ByteBuffer.allocate(1))).isZero();
        }
        write(at("file"), "x");
        try (StoreReader source = store.open(at(""), id)) {
            assertFails(Errno.EIO, () -> source.read(0, ByteBuffer.allocate(1)));
        }
    }

    /** More than a worker takes at once: what is cancelled then is removed from the UFS. Streams, AbandonedCreates.beside. */
    @Test
    void cancel_ofLargeFile_leavesNothingInTheUfs() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        byte[] piece = new byte[MIB];
        for (int i = 0; i < 5; i++) {
            sink.write(piece, 0, piece.length);
        }
        sink.cancel();
        assertThat(store.status(at("file")).complete()).isFalse();
        // The worker removes it when it hears of that.
        Eventually.holds("nothing is left", () -> outside(at("file")).isEmpty());
    }
}
