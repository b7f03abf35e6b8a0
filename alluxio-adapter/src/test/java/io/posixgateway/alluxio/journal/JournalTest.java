package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.journal.Journal.Entry;
import io.posixgateway.alluxio.journal.Journal.Kind;
import io.posixgateway.alluxio.journal.JournalFile.Step;
import io.posixgateway.alluxio.journal.JournalFrame.Subject;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JournalTest {
    private static final Subject SUBJECT = new Subject(5, 7);

    private final Path folder;
    private final Path file;
    /** What a step fails with, or does before it is done. */
    private JournalFile.Steps steps = step -> {};

    private Executor waiting = Runnable::run;
    private @Nullable Reserve reserve;

    JournalTest(@TempDir Path folder) {
        this.folder = folder;
        this.file = folder.resolve("journal");
    }

    private Journal open(Path path, String cluster) throws IOException {
        return Journal.open(
                path,
                cluster,
                new JournalFile.Disk(reserve, false, task -> waiting.execute(task), step -> steps.before(step)));
    }

    private Journal open() throws IOException {
        return open(file, "");
    }

    private static long add(Journal journal, String text) throws IOException {
        return journal.add(Kind.HIDDEN, SUBJECT, List.of(text));
    }

    private static List<String> taken(Journal journal) {
        return journal.take(Kind.HIDDEN).stream()
                .map(entry -> entry.texts().get(0))
                .toList();
    }

    private List<String> left(Path path) throws IOException {
        return taken(open(path, ""));
    }

    /** The end of a process that is killed: nothing is closed. */
    private byte[] recorded(String... texts) throws IOException {
        Journal journal = open();
        for (String text : texts) {
            add(journal, text);
        }
        return Files.readAllBytes(file);
    }

    private static List<Integer> ends(byte[] bytes) {
        List<Integer> ends = new ArrayList<>();
        int at = 0;
        for (JournalFrame frame : JournalFrame.scan(ByteBuffer.wrap(bytes)).frames()) {
            at += frame.lengthBytes();
            ends.add(at);
        }
        return ends;
    }

    private static IOException full() {
        return new IOException(Native.errorText(-Errno.ENOSPC));
    }

    @Test
    void take_ofWhatEarlierProcessLeft_returnsItOnceWithAllThatWasSaid() throws Exception {
        Journal dead = open();
        long gone = add(dead, "gone");
        dead.add(Kind.RENAME_OVER, new Subject(0, 9), List.of("/from", "/tö"));
        add(dead, "left");
        dead.remove(gone);
        Journal next = open();
        add(next, "its own");
        assertThat(next.take(Kind.RENAME_OVER))
                .containsExactly(new Entry(2, new Subject(0, 9), List.of("/from", "/tö"), false));
        assertThat(taken(next)).containsExactly("left");
        assertThat(taken(next)).isEmpty();
    }

    @Test
    void open_makesNothing() throws Exception {
        assertThat(taken(open())).isEmpty();
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void open_cutShortAtAnyByte_findsWhatIsWholeAndContinuesBehindIt() throws Exception {
        byte[] bytes = recorded("one", "two", "three");
        List<Integer> ends = ends(bytes);
        for (int cut = 0; cut <= bytes.length; cut++) {
            int count = cut;
            Files.write(file, Arrays.copyOf(bytes, cut));
            Journal journal = open();
            List<String> whole = List.of("one", "two", "three").subList(0, (int)
                    Math.max(0, ends.stream().filter(end -> end <= count).count() - 1));
            assertThat(taken(journal)).as("%d bytes", cut).isEqualTo(whole);
            add(journal, "four");
            JournalFrame.Scan scan = JournalFrame.scan(ByteBuffer.wrap(Files.readAllBytes(file)));
            assertThat(scan.damaged()).as("%d bytes", cut).isEmpty();
            assertThat(left(file))
                    .as("%d bytes", cut)
                    .isEqualTo(Stream.concat(whole.stream(), Stream.of("four")).toList());
        }
    }

    @Test
    void open_withOneBitFlippedInAnyByte_losesNoOtherRecordAndKeepsTheDamage() throws Exception {
        byte[] bytes = recorded("one", "two", "three");
        List<Integer> ends = ends(bytes);
        for (int at = 0; at < bytes.length; at++) {
            int flipped = at;
            byte[] damaged = bytes.clone();
            damaged[at] ^= (byte) (1 << at % 8);
            Files.write(file, damaged);
            List<String> whole = new ArrayList<>(List.of("one", "two", "three"));
            int hit = (int) ends.stream().filter(end -> end <= flipped).count();
            if (hit > 0) {
                whole.remove(hit - 1);
            }
            Journal journal = open();
            assertThat(taken(journal)).as("byte %d", at).isEqualTo(whole);
            add(journal, "four");
            whole.add("four");
            assertThat(left(file)).as("byte %d", at).isEqualTo(whole);
            if (hit < ends.size() - 1) {
                assertThat(Files.readAllBytes(file)).as("byte %d", at).startsWith(damaged);
            }
        }
    }

    @Test
    void open_withZerosBehindTheLastRecord_isNotDamaged() throws Exception {
        byte[] bytes = recorded("one");
        Files.write(file, new byte[4096], StandardOpenOption.APPEND);
        Journal journal = open();
        add(journal, "two");
        assertThat(left(file)).containsExactly("one", "two");
        assertThat(Files.size(file)).isLessThan(3L * bytes.length);
    }

    @Test
    void recordsOfNewerVersions_areKept_andThoseThatMustNotBeIgnoredAreNamed() throws Exception {
        recorded("one");
        for (byte[] record : List.of(
                NewerRecord.bytes(Kind.HIDDEN.number, NewerRecord.VERSION, 100, SUBJECT),
                NewerRecord.bytes(99, NewerRecord.VERSION, 101, new Subject(0, 9)),
                NewerRecord.bytes(99, Journal.FORMAT, 102, Subject.NONE),
                NewerRecord.bytes(Kind.HIDDEN.number, Journal.FORMAT, 103, Subject.NONE))) {
            Files.write(file, record, StandardOpenOption.APPEND);
        }
        Journal journal = open();
        assertThat(taken(journal)).containsExactly("one");
        assertThat(journal.withheld()).containsExactly(SUBJECT, new Subject(0, 9));
        churn(journal);
        journal.close();
        assertThat(JournalFrame.scan(ByteBuffer.wrap(Files.readAllBytes(file))).frames().stream()
                        .map(JournalFrame::id))
                .contains(100L, 101L, 102L, 103L);
    }

    @Test
    void fileOfNewerFormat_isKeptByAnotherName_whenSomethingIsRecorded() throws Exception {
        byte[] there = NewerRecord.bytes(Kind.HEAD.number, NewerRecord.VERSION, 0, Subject.NONE);
        Files.write(file, there);
        Journal journal = open();
        assertThat(taken(journal)).isEmpty();
        assertThat(file).hasBinaryContent(there);
        add(journal, "one");
        assertThat(folder.resolve("journal.1")).hasBinaryContent(there);
        assertThat(left(file)).containsExactly("one");
    }

    @Test
    void fileOfNewerFormat_isNotContinued_andWhatMustNotBeIgnoredIsNamed() throws Exception {
        Files.write(file, NewerRecord.bytes(Kind.HEAD.number, NewerRecord.VERSION, 0, Subject.NONE));
        Subject ignored = new Subject(0, 9);
        for (byte[] record : List.of(
                NewerRecord.bytes(Kind.HIDDEN.number, NewerRecord.VERSION, 1, SUBJECT),
                NewerRecord.bytes(Kind.HIDDEN.number, Journal.FORMAT, 2, ignored))) {
            Files.write(file, record, StandardOpenOption.APPEND);
        }
        Journal journal = open();
        assertThat(taken(journal)).isEmpty();
        assertThat(journal.withheld()).containsExactly(SUBJECT);
        add(journal, "one");
        assertThat(journal.withheld()).containsExactly(SUBJECT);
    }

    @Test
    void journalOfAnotherCluster_isKeptAndNotUsed() throws Exception {
        add(open(file, "before"), "one");
        byte[] there = Files.readAllBytes(file);
        Journal journal = open(file, "now");
        assertThat(taken(journal)).isEmpty();
        journal.close();
        assertThat(file).hasBinaryContent(there);
        assertThat(taken(open(file, "before"))).containsExactly("one");
    }

    @Test
    void clusterIs_ofAnother_countsFromThenOn() throws Exception {
        Journal journal = open(file, "");
        add(journal, "one");
        journal.clusterIs("first");
        journal.clusterIs("second");
        assertThat(taken(open(file, "second"))).containsExactly("one");
        assertThat(taken(open(file, "first"))).isEmpty();
    }

    private static void churn(Journal journal) throws IOException {
        for (int i = 0; i < 4000; i++) {
            journal.remove(add(journal, "of no use " + i));
        }
    }

    @Test
    void file_withMostlyRecordsThatCountNoMore_isWrittenAnew() throws Exception {
        Journal journal = open();
        add(journal, "one");
        Files.write(file, new byte[] {1, 2, 3}, StandardOpenOption.APPEND);
        churn(journal);
        assertThat(Files.size(file)).isLessThan(300_000);
        assertThat(left(file)).containsExactly("one");
    }

    @Test
    void damage_staysInFileThatIsWrittenAnew() throws Exception {
        byte[] bytes = recorded("one", "two");
        bytes[ends(bytes).get(0) + JournalFrame.HEAD_BYTES] ^= 1;
        Files.write(file, bytes);
        Journal journal = open();
        churn(journal);
        JournalFrame.Scan scan = JournalFrame.scan(ByteBuffer.wrap(Files.readAllBytes(file)));
        assertThat(scan.damaged()).hasSize(1);
        assertThat(left(file)).containsExactly("two");
        assertThat(Files.size(file)).isLessThan(300_000);
    }

    @Test
    void file_inWhichNothingCounts_isEmptiedWhereItStands() throws Exception {
        Journal journal = open();
        waiting = task -> {
            throw new AssertionError("written anew");
        };
        churn(journal);
        assertThat(Files.size(file)).isLessThan(300_000);
        add(journal, "one");
        assertThat(left(file)).containsExactly("one");
    }

    /** The process is killed just before each step: what is on the disk then is what the next one finds. */
    @ParameterizedTest
    @EnumSource(Step.class)
    void kill_inCompaction_losesNothing(Step killed) throws Exception {
        Journal journal = open();
        add(journal, "one");
        List<Path> copies = new ArrayList<>();
        steps = step -> {
            if (step == killed && copies.size() < 20) {
                Path copy = Files.createDirectory(folder.resolve("copy" + copies.size()));
                for (String name : List.of("journal", "journal.new")) {
                    if (Files.exists(folder.resolve(name))) {
                        Files.copy(folder.resolve(name), copy.resolve(name));
                    }
                }
                copies.add(copy.resolve("journal"));
            }
        };
        churn(journal);
        for (Path copy : copies) {
            Journal next = open(copy, "");
            assertThat(taken(next)).contains("one");
            steps = step -> {};
            add(next, "two");
            churn(next);
            assertThat(left(copy)).contains("one", "two");
        }
        assertThat(killed == Step.OPEN || !copies.isEmpty()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = Step.class,
            names = {"COPY", "SYNC", "RENAME"})
    void failure_inCompaction_leavesTheFileAsItIs(Step failing) throws Exception {
        Journal journal = open();
        add(journal, "one");
        steps = step -> {
            if (step == failing) {
                throw full();
            }
        };
        churn(journal);
        add(journal, "two");
        assertThat(left(file)).containsExactly("one", "two");
        assertThat(folder).isDirectoryNotContaining("glob:**.new");
        steps = step -> {};
        churn(journal);
        assertThat(left(file)).containsExactly("one", "two");
        assertThat(Files.size(file)).isLessThan(300_000);
    }

    /** What was to be recorded is recorded, and its work is done. */
    @Test
    void compaction_withoutAThread_failsNothing() throws Exception {
        Journal journal = open();
        add(journal, "one");
        waiting = task -> {
            throw new RejectedExecutionException("no more threads");
        };
        churn(journal);
        assertThat(left(file)).containsExactly("one");
        waiting = Runnable::run;
        churn(journal);
        churn(journal);
        assertThat(left(file)).containsExactly("one");
        assertThat(Files.size(file)).isLessThan(300_000);
    }

    @Test
    void remove_thatTheDiskDoesNotTake_isRecordedWithTheNext() throws Exception {
        Journal journal = open();
        long one = add(journal, "one");
        steps = step -> {
            throw full();
        };
        assertThatThrownBy(() -> journal.remove(one)).isInstanceOf(IOException.class);
        steps = step -> {};
        add(journal, "two");
        assertThat(left(file)).containsExactly("two");
    }

    @Test
    void clusterIs_thatTheDiskDoesNotTake_isRecordedWithTheNext() throws Exception {
        Journal journal = open();
        add(journal, "one");
        steps = step -> {
            throw full();
        };
        assertThatThrownBy(() -> journal.clusterIs("first")).isInstanceOf(IOException.class);
        steps = step -> {};
        add(journal, "two");
        assertThat(taken(open(file, "second"))).isEmpty();
        assertThat(taken(open(file, "first"))).containsExactly("one", "two");
    }

    /** Nobody knew of which cluster the volume is when it was opened. */
    @Test
    void clusterIs_ofAnotherThanThatOfWhatIsInherited_continuesNothing() throws Exception {
        add(open(file, "first"), "one");
        Journal journal = open();
        journal.clusterIs("second");
        assertThat(taken(journal)).isEmpty();
        add(journal, "two");
        assertThat(taken(open(file, "second"))).containsExactly("two");
        assertThat(taken(open(folder.resolve("journal.1"), "first"))).containsExactly("one");
    }

    @Test
    void fileThatCannotBeRead_isKeptByAnotherName() throws Exception {
        Files.createDirectory(file);
        Journal journal = open();
        assertThat(taken(journal)).isEmpty();
        add(journal, "one");
        assertThat(left(file)).containsExactly("one");
        assertThat(folder.resolve("journal.1")).isDirectory();
    }

    @Test
    void add_duringCompaction_isNotLost() throws Exception {
        Journal journal = open();
        add(journal, "one");
        List<String> meanwhile = new ArrayList<>();
        steps = step -> {
            if (step == Step.SYNC && meanwhile.size() < 5) {
                meanwhile.add("meanwhile " + meanwhile.size());
                add(journal, meanwhile.get(meanwhile.size() - 1));
            }
        };
        churn(journal);
        assertThat(meanwhile).isNotEmpty();
        assertThat(left(file)).contains("one").containsAll(meanwhile);
    }

    @Test
    void close_duringCompaction_leavesNothingBehindIt() throws Exception {
        Journal journal = open();
        add(journal, "one");
        List<Runnable> tasks = new ArrayList<>();
        waiting = tasks::add;
        churn(journal);
        assertThat(tasks).hasSize(1);
        journal.close();
        tasks.get(0).run();
        assertThat(left(file)).containsExactly("one");
        assertThat(folder.resolve("journal.new")).doesNotExist();
    }

    @Test
    void add_onFullDisk_failsWhole_andWhatIsThereIsRead() throws Exception {
        recorded("one");
        Journal journal = open();
        steps = step -> {
            throw full();
        };
        assertThat(taken(journal)).containsExactly("one");
        assertThatThrownBy(() -> add(journal, "two")).isInstanceOf(IOException.class);
        assertThat(left(file)).containsExactly("one");
        steps = step -> {};
        add(journal, "three");
        assertThat(left(file)).containsExactly("one", "three");
    }

    @Test
    void add_onFullDisk_takesTheReserve() throws Exception {
        reserve = new Reserve(folder, "reserve");
        reserve.fill();
        Journal journal = open();
        steps = step -> {
            if (step == Step.APPEND && Files.exists(folder.resolve("reserve"))) {
                throw full();
            }
        };
        add(journal, "one");
        assertThat(left(file)).containsExactly("one");
        assertThat(folder.resolve("reserve")).doesNotExist();
    }

    /** As the end of a killed program interrupts the thread that serves its call. */
    @Test
    void add_onInterruptedThread_isRecorded() throws Exception {
        Journal journal = open();
        Thread.currentThread().interrupt();
        try {
            add(journal, "one");
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        add(journal, "two");
        assertThat(left(file)).containsExactly("one", "two");
    }

    @Test
    void close_removesTheFileOnlyIfNothingCounts() throws Exception {
        Journal journal = open();
        long id = add(journal, "one");
        journal.close();
        assertThat(file).exists();
        assertThatThrownBy(() -> add(journal, "late")).isInstanceOf(IOException.class);
        Journal next = open();
        next.remove(id);
        next.close();
        assertThat(file).doesNotExist();
    }
}
