package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.journal.DirectoryRenameLog.Moving;
import io.posixgateway.alluxio.journal.RenameLog.Renaming;
import io.posixgateway.alluxio.journal.SillyRenames.Hidden;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VolumeJournalTest {
    private static final Hidden A = new Hidden("/d/.pgw~a", 11, 13);
    private static final Hidden B = new Hidden("/d/.pgw~b", 0, 0);
    private static final Renaming RENAMING = new Renaming("/d/.pgw~a", 11, "/d/a");
    private static final JournalFrame.Subject NOTHING = JournalFrame.Subject.NONE;
    private static final Moving MOVING = new Moving("/old", "/new");

    private final Path folder;

    VolumeJournalTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private VolumeJournal own() throws IOException {
        return VolumeJournal.own(folder, "", new Reserve(folder, "reserve"));
    }

    private VolumeJournal shared(String cluster) {
        return VolumeJournal.shared(folder, cluster);
    }

    /** What a mount of another process left in a folder that is shared. */
    private Path leave(String cluster, Hidden... all) throws Exception {
        Path left;
        try (VolumeJournal dead = shared(cluster)) {
            left = dead.path();
            SillyRenames hidden = new SillyRenames(dead);
            for (Hidden one : all) {
                hidden.add(one);
            }
        }
        return Files.move(left, folder.resolve("journal-of.another-" + files().size()));
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Test
    void lists_ofOneVolume_shareItsJournal() throws Exception {
        VolumeJournal dead = own();
        new SillyRenames(dead).add(A);
        RenameLog renames = new RenameLog(dead);
        renames.over.add(RENAMING);
        renames.free.add(new Renaming("/x", 3, "/y"));
        renames.free.remove(new Renaming("/x", 3, "/y"));
        new DirectoryRenameLog(dead).add(MOVING);
        assertThat(files()).containsExactly(folder.resolve("journal"));
        VolumeJournal next = own();
        assertThat(new SillyRenames(next).inherit()).containsExactly(A);
        assertThat(new RenameLog(next).over.inherit()).containsExactly(RENAMING);
        assertThat(new RenameLog(next).free.inherit()).isEmpty();
        assertThat(new DirectoryRenameLog(next).inherit()).containsExactly(MOVING);
    }

    /** Of a newer format: it is kept by another name as soon as something is recorded, and the next process of this version looks there. */
    @Test
    void withheld_ofAJournalThatIsKept_isKnownToEachNextProcess() throws Exception {
        Path file = folder.resolve("journal");
        Files.write(file, NewerRecord.bytes(Journal.Kind.HEAD.number, NewerRecord.VERSION, 0, NOTHING));
        byte[] record = NewerRecord.bytes(99, NewerRecord.VERSION, 1, new JournalFrame.Subject(5, 7));
        Files.write(file, record, StandardOpenOption.APPEND);
        DirtyFileRecord.Ids ids = new DirtyFileRecord.Ids(5, 7);
        VolumeJournal journal = own();
        assertThat(journal.withheld()).containsExactly(ids);
        new SillyRenames(journal).add(A);
        assertThat(own().withheld()).containsExactly(ids);
        assertThat(new SillyRenames(own()).inherit()).containsExactly(A);
    }

    /** As after a rollback and an upgrade: the version between could not use it. */
    @Test
    void journalThatWasKept_isContinuedByAVersionThatUnderstandsIt() throws Exception {
        VolumeJournal before = VolumeJournal.own(folder, "cluster", new Reserve(folder, "reserve"));
        new SillyRenames(before).add(A);
        Files.move(before.path(), folder.resolve("journal.1"));
        VolumeJournal other = VolumeJournal.own(folder, "other", new Reserve(folder, "reserve"));
        assertThat(new SillyRenames(other).inherit()).isEmpty();
        assertThat(folder.resolve("journal.1")).exists();
        VolumeJournal next = VolumeJournal.own(folder, "cluster", new Reserve(folder, "reserve"));
        assertThat(new SillyRenames(next).inherit()).containsExactly(A);
        assertThat(folder.resolve("journal.1")).doesNotExist();
    }

    /** Is a rename of the process 7 old to the next one of this version? */
    private boolean isOld(long last, long process, boolean isKnown) throws IOException {
        Files.deleteIfExists(folder.resolve("journal"));
        VolumeJournal dead = VolumeJournal.own(folder, "cluster", new Reserve(folder, "reserve"));
        dead.servedBy(7, true);
        new RenameLog(dead).over.add(RENAMING);
        if (last != 7) {
            VolumeJournal.own(folder, "cluster", new Reserve(folder, "reserve")).servedBy(last, true);
        }
        VolumeJournal next = VolumeJournal.own(folder, "cluster", new Reserve(folder, "reserve"));
        next.servedBy(process, isKnown);
        RenameLog renames = new RenameLog(next);
        assertThat(renames.over.inherit()).containsExactly(RENAMING);
        return renames.over.isOld(RENAMING);
    }

    /** A version that reads no journal counts processes, and at the end of a volume it forgets of which Alluxio that is. */
    @Test
    void record_isOld_whereAnEarlierVersionServedSinceThen() throws Exception {
        assertThat(isOld(7, 8, true)).isFalse();
        assertThat(isOld(8, 9, true)).isFalse();
        assertThat(isOld(0, 1, true)).as("after the end of a volume").isFalse();
        assertThat(isOld(7, 1, true)).as("its counter was lost").isFalse();
        assertThat(isOld(7, 9, true)).isTrue();
        assertThat(isOld(8, 10, true)).isTrue();
        assertThat(isOld(0, 2, true)).isTrue();
        assertThat(isOld(0, 1, false)).isTrue();
    }

    @Test
    void inherit_returnsWhatADeadProcessLeftOnce() throws Exception {
        Path left = leave("here", A, B);
        VolumeJournal journal = shared("here");
        SillyRenames next = new SillyRenames(journal);
        assertThat(next.inherit()).containsExactly(A, B);
        assertThat(left).doesNotExist();
        assertThat(next.inherit()).isEmpty();
        next.forget(A.node());
        assertThat(next.present()).containsExactly(B);
        next.remove(B.path());
        journal.close();
        assertThat(files()).isEmpty();
    }

    @Test
    void add_ofTheSameEntryAgain_isRemovedByOneRemoval() throws Exception {
        VolumeJournal journal = own();
        SillyRenames list = new SillyRenames(journal);
        list.add(A);
        list.add(A);
        list.add(new Hidden(A.path(), 12, 13));
        list.remove(A.path());
        assertThat(list.has(A.path())).isFalse();
        assertThat(new SillyRenames(own()).inherit()).isEmpty();
    }

    @Test
    void inherit_inASharedFolder_leavesJournalsOfOtherMasters() throws Exception {
        Path other = leave("[two:19998, one:19998]", A);
        assertThat(new SillyRenames(shared("[one:19998]")).inherit()).isEmpty();
        assertThat(other).exists();
        assertThat(new SillyRenames(shared("[one:19998, two:19998]")).inherit()).containsExactly(A);
    }

    /** An entry is carried out in Alluxio. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void inherit_whereOthersCouldPutAJournal_findsNone(boolean isShared) throws Exception {
        if (isShared) {
            leave("here", A);
        } else {
            new SillyRenames(own()).add(A);
        }
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        VolumeJournal journal = isShared ? shared("here") : own();
        assertThat(new SillyRenames(journal).inherit()).isEmpty();
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        assertThat(new SillyRenames(journal).inherit()).containsExactly(A);
    }

    @Test
    void inherit_leavesTheJournalsOfTheLiving() throws Exception {
        Path locked = leave("here", B);
        Process living = new ProcessBuilder(
                        "python3",
                        "-c",
                        "import fcntl,sys; f=open(sys.argv[1],'r+b'); fcntl.lockf(f,fcntl.LOCK_EX); print('locked',"
                                + " flush=True); sys.stdin.read()",
                        locked.toString())
                .start();
        try {
            assertThat(living.getInputStream().read()).isEqualTo('l');
            assertThat(new SillyRenames(shared("here")).inherit()).isEmpty();
        } finally {
            living.destroyForcibly().waitFor();
        }
        VolumeJournal journal = shared("here");
        SillyRenames own = new SillyRenames(journal);
        own.add(A);
        assertThat(own.inherit()).containsExactly(B);
        assertThat(new SillyRenames(shared("here")).inherit())
                .as("one of this process")
                .isEmpty();
        journal.close();
    }

    @Test
    void adopt_keepsWhatANewerVersionRecorded() throws Exception {
        Path left = leave("here", A);
        JournalFrame.Subject subject = new JournalFrame.Subject(7, 8);
        Files.write(left, NewerRecord.bytes(99, NewerRecord.VERSION, 50, subject), StandardOpenOption.APPEND);
        VolumeJournal journal = shared("here");
        assertThat(new SillyRenames(journal).inherit()).containsExactly(A);
        assertThat(journal.withheld()).containsExactly(new DirtyFileRecord.Ids(7, 8));
    }

    @Test
    void listsOfEarlierVersions_stayUntilNothingIsLeftInThem() throws Exception {
        OldListFile old = new OldListFile(folder, "hidden-1-of.another-1")
                .hidden(true, 1, 2, "/gone")
                .hidden(false, 1, 2, "/gone")
                .hidden(true, A.fileId(), A.node(), A.path())
                .hidden(true, 0, 0, B.path());
        Files.write(old.path(), new byte[] {1, 2, 3}, StandardOpenOption.APPEND); // of an entry that was cut short
        byte[] left = Files.readAllBytes(old.path());
        VolumeJournal killed = own();
        assertThat(new SillyRenames(killed).inherit()).containsExactly(A, B);
        assertThat(old.path()).hasBinaryContent(left);
        SillyRenames next = new SillyRenames(own());
        assertThat(next.inherit()).containsExactly(A, B);
        assertThat(next.inherit()).isEmpty();
        next.remove(A);
        assertThat(new SillyRenames(own()).inherit()).as("after a kill").containsExactly(B);
        next.remove(B);
        assertThat(files()).isEmpty();
    }

    @Test
    void listsOfEarlierVersions_ofEachKind_areTakenOver() throws Exception {
        new OldListFile(folder, "renames-1-x-1").rename(true, 11, RENAMING.from(), RENAMING.to());
        new OldListFile(folder, "moves-1-x-1").rename(true, 3, "/x", "/y");
        new OldListFile(folder, "directories-1-x-1")
                .directory(true, "/gone", "/x")
                .directory(false, "/gone", "/x");
        OldListFile left = new OldListFile(folder, "directories-1-x-2").directory(true, "/old", "/new");
        VolumeJournal journal = own();
        RenameLog renames = new RenameLog(journal);
        assertThat(renames.over.inherit()).containsExactly(RENAMING);
        assertThat(renames.free.inherit()).containsExactly(new Renaming("/x", 3, "/y"));
        DirectoryRenameLog directories = new DirectoryRenameLog(journal);
        assertThat(directories.inherit()).containsExactly(MOVING);
        assertThat(folder.resolve("directories-1-x-1")).doesNotExist();
        assertThat(left.path()).exists();
        renames.over.remove(RENAMING);
        renames.free.remove(new Renaming("/x", 3, "/y"));
        directories.remove(MOVING);
        assertThat(files()).isEmpty();
    }

    /** A version before wrote what is taken off in the form that it reads. */
    @Test
    void listsOfEarlierVersions_haveEachOtherKindTakenOffAsTheyDid() throws Exception {
        OldListFile renames = new OldListFile(folder, "renames-1-x-1")
                .rename(true, 11, "/a", "/b")
                .rename(true, 12, "/c", "/d");
        OldListFile directories = new OldListFile(folder, "directories-1-x-1")
                .directory(true, "/a", "/b")
                .directory(true, "/c", "/d");
        VolumeJournal journal = own();
        RenameLog log = new RenameLog(journal);
        log.over.inherit();
        log.over.remove(new Renaming("/a", 11, "/b"));
        DirectoryRenameLog moving = new DirectoryRenameLog(journal);
        moving.inherit();
        moving.remove(new Moving("/a", "/b"));
        Path form = Files.createDirectory(folder.resolve("form"));
        assertThat(renames.path())
                .hasSameBinaryContentAs(new OldListFile(form, "renames")
                        .rename(true, 11, "/a", "/b")
                        .rename(true, 12, "/c", "/d")
                        .rename(false, 11, "/a", "/b")
                        .path());
        assertThat(directories.path())
                .hasSameBinaryContentAs(new OldListFile(form, "directories")
                        .directory(true, "/a", "/b")
                        .directory(true, "/c", "/d")
                        .directory(false, "/a", "/b")
                        .path());
    }

    @Test
    void listsOfEarlierVersions_inASharedFolder_areAdoptedByTheirAlluxio() throws Exception {
        String cluster = "[two:19998, one:19998]";
        String whole = Integer.toHexString("[one:19998, two:19998]".hashCode()) + "-" + digest();
        new OldListFile(folder, "hidden-" + Integer.toHexString(cluster.hashCode()) + "-of.another-1")
                .hidden(true, A.fileId(), A.node(), A.path());
        new OldListFile(folder, "hidden-" + whole + "-of.another-2").hidden(true, 0, 0, B.path());
        assertThat(new SillyRenames(shared("[one:19998]")).inherit()).isEmpty();
        VolumeJournal journal = shared(cluster);
        assertThat(new SillyRenames(journal).inherit()).containsExactlyInAnyOrder(A, B);
        assertThat(files()).containsExactly(journal.path());
        journal.close();
    }

    private static String digest() throws Exception {
        return java.util.HexFormat.of()
                .formatHex(java.security.MessageDigest.getInstance("SHA-256")
                        .digest("[one:19998, two:19998]".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
    }

    @Test
    void listsOfEarlierVersions_inASharedFolder_ofMastersWithTheSameHash_stay() throws Exception {
        assertThat("Aa:19998").hasSameHashCodeAs("BB:19998");
        String digest = java.util.HexFormat.of()
                .formatHex(java.security.MessageDigest.getInstance("SHA-256")
                        .digest("Aa:19998".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
        new OldListFile(folder, "renames-" + Integer.toHexString("Aa:19998".hashCode()) + "-" + digest + "-other-1")
                .rename(true, 11, RENAMING.from(), RENAMING.to());
        assertThat(new RenameLog(shared("BB:19998")).over.inherit()).isEmpty();
        assertThat(new RenameLog(shared("Aa:19998")).over.inherit()).containsExactly(RENAMING);
    }

    @Test
    void listOfAnEarlierVersion_thatIsDamaged_stays() throws Exception {
        Path list = Files.write(
                folder.resolve("hidden-1-x-1"),
                new byte[] {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, (byte) 0xff, (byte) 0xff});
        assertThat(new SillyRenames(own()).inherit()).isEmpty();
        assertThat(list).exists();
    }
}
