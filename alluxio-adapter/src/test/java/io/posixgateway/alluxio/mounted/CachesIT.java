package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.AlluxioFileSystem;
import io.posixgateway.alluxio.AlluxioMount;
import io.posixgateway.alluxio.client.MasterCalls;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.time.OffsetClock;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What is answered from memory, and how long it may be old. */
class CachesIT {
    private static final Request INLINE = new PlainRequest(false);
    private static final Request WAITING = new PlainRequest(true);
    private static final int TRIES = 3;
    /** The time to live, or to trust, of a second, and another for a busy machine. */
    private static final List<Set<PosixFilePermission>> MODES = List.of(
            PosixFilePermissions.fromString("rw-r-----"),
            PosixFilePermissions.fromString("rwxr-xr-x"),
            PosixFilePermissions.fromString("rw-rw-rw-"));

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

    /** With so many files of five bytes. */
    private static String folderOf(int files) throws Exception {
        String folder = SharedAlluxio.folder();
        for (int i = 0; i < files; i++) {
            Files.writeString(SharedAlluxio.ufs(folder).resolve("f" + i), "hello");
        }
        return folder;
    }

    /** What the kernel knows stays; what comes beside it must not be gone before it is used. */
    @Test
    void moreFilesThanAreKeptAreReadWithoutLookingForThemAgain() throws Exception {
        int files = 1200;
        String folder = folderOf(files);
        Map<String, String> options = Map.of("consistency", "ttl", "metadata_ttl", "1h", "cache_entries", "1000");
        AlluxioFileSystem fs = SharedAlluxio.open(folder, options);
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            lookAt(mounted.root(), files);
            Map<String, Long> before = MasterCalls.counts();
            for (int i = files - 1; i >= 0; i--) {
                assertThat(mounted.root().resolve("f" + i)).hasContent("hello");
            }
            assertThat(MasterCalls.since(before)).doesNotContainKey("GetFilePath");
        }
    }

    /** Else memory would be bounded by nothing but the kernel's. */
    @Test
    void theKernelLetsGoOfFilesThatAreTooManyToBeKept() throws Exception {
        int files = 5000;
        String folder = folderOf(files);
        Map<String, String> options = Map.of("consistency", "ttl", "metadata_ttl", "1h", "cache_entries", "1000");
        AlluxioFileSystem fs = SharedAlluxio.open(folder, options);
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO);
                RandomAccessFile open =
                        new RandomAccessFile(mounted.root().resolve("f0").toFile(), "r")) {
            lookAt(mounted.root(), files);
            eventually(() -> fs.counts().inodes() < 3000);
            assertThat(mounted.root().toFile().list()).hasSize(files);
            lookAt(mounted.root(), files);
            eventually(() -> fs.counts().inodes() < 3000);
            assertThat(open.readLine()).isEqualTo("hello");
            for (int i = 0; i < files; i += 100) {
                assertThat(mounted.root().resolve("f" + i)).hasContent("hello");
            }
        }
    }

    /** However many. */
    @Test
    void whateverIsInvalidatedIsNoLongerBelievedByTheKernel() throws Exception {
        int files = 6000;
        String folder = folderOf(files);
        AlluxioFileSystem fs = SharedAlluxio.open(folder, Map.of("consistency", "ttl", "metadata_ttl", "1h"));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            SessionMetrics metrics = mounted.session().metrics();
            assertThat(mounted.root().toFile().list()).hasSize(files);
            lookAt(mounted.root(), files);
            long before = metrics.requests(Opcode.LOOKUP);
            lookAt(mounted.root(), files);
            assertThat(metrics.requests(Opcode.LOOKUP) - before).isLessThan(files / 10);

            assertThat(fs.invalidate("/")).isEqualTo(files + 1);

            before = metrics.requests(Opcode.LOOKUP);
            lookAt(mounted.root(), files);
            assertThat(metrics.requests(Opcode.LOOKUP) - before).isGreaterThanOrEqualTo(files);
        }
    }

    private static void lookAt(Path root, int files) throws IOException {
        for (int i = 0; i < files; i++) {
            assertThat(Files.size(root.resolve("f" + i))).isEqualTo(5);
        }
    }

    @Test
    void namesThatAreMissingAreInvalidatedToo() throws Exception {
        String folder = SharedAlluxio.folder();
        Files.createDirectories(SharedAlluxio.ufs(folder).resolve("d"));
        Map<String, String> options = Map.of("consistency", "ttl", "metadata_ttl", "1h");
        AlluxioFileSystem fs = SharedAlluxio.open(folder, options);
        try (MountedFileSystem one =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
                MountedFileSystem two = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            Path made = one.root().resolve("d");
            Path seen = two.root().resolve("d");
            assertThat(seen.resolve("asked")).doesNotExist();
            assertThat(seen.toFile().list()).isEmpty();
            assertThat(seen.resolve("known")).doesNotExist(); // without asking Alluxio
            assertThat(seen.resolve("single")).doesNotExist();
            for (String name : new String[] {"asked", "known", "single"}) {
                Files.writeString(made.resolve(name), name);
                assertThat(seen.resolve(name)).doesNotExist();
            }
            assertThat(fs.invalidate("/d/single")).isEqualTo(1);
            assertThat(seen.resolve("single")).hasContent("single");

            assertThat(fs.invalidate("/d")).isGreaterThan(2);
            assertThat(seen.resolve("asked")).hasContent("asked");
            assertThat(seen.resolve("known")).hasContent("known");
            assertThat(seen.toFile().list()).containsExactlyInAnyOrder("asked", "known", "single");
        }
    }

    @Test
    void anOpenBelievesWhatWasSeenAMomentAgo() throws Exception {
        String folder = SharedAlluxio.folder();
        Files.writeString(SharedAlluxio.ufs(folder).resolve("f"), "hello");
        try (AlluxioFileSystem trusting = SharedAlluxio.open(folder, Map.of("open_trust", "1h", "metadata_ttl", "1h"));
                AlluxioFileSystem asking =
                        SharedAlluxio.open(folder, Map.of("open_trust", "0", "metadata_ttl", "1h"))) {
            assertThat(openAgain(trusting)).isZero();
            assertThat(openAgain(asking)).isEqualTo(FileSystem.WOULD_WAIT);
        }
    }

    private static int openAgain(AlluxioFileSystem fs) {
        Entry entry = new Entry();
        assertThat(fs.lookup(WAITING, FileSystem.ROOT, Name.of("f"), entry)).isZero();
        OpenReply open = new OpenReply();
        assertThat(fs.open(WAITING, entry.node, 0, open)).isZero();
        assertThat(fs.release(WAITING, entry.node, open.handle)).isZero();
        return fs.open(INLINE, entry.node, 0, new OpenReply());
    }

    @Test
    void aDirectoryOfWhichManyFilesAreAskedForIsListedAhead() throws Exception {
        String folder = folderOf(100);
        try (AlluxioFileSystem fs = SharedAlluxio.open(folder, Map.of("metadata_ttl", "1h"))) {
            Entry entry = new Entry();
            for (int i = 0; i < 20; i++) {
                assertThat(fs.lookup(WAITING, FileSystem.ROOT, Name.of("f" + i), entry))
                        .isZero();
            }
            eventually(() -> fs.lookup(INLINE, FileSystem.ROOT, Name.of("f99"), entry) == 0);
            assertThat(entry.attributes.sizeBytes).isEqualTo(5);
        }
    }

    /**
     * With everything known, an epoch costs the kernel one OPEN and one RELEASE for each file, and no more unless it dropped pages
     * or names for reasons of its own.
     */
    @Test
    void aLaterEpochIsOpensAndReleasesOnly() throws Exception {
        int files = 50;
        int epochs = 6;
        String folder = SharedAlluxio.folder();
        for (int i = 0; i < files; i++) {
            Files.writeString(SharedAlluxio.ufs(folder).resolve("f" + i), "hello " + i);
        }
        AlluxioFileSystem fs = SharedAlluxio.open(folder, Map.of("metadata_ttl", "1h", "open_trust", "1h"));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            SessionMetrics metrics = mounted.session().metrics();
            long again = files;
            for (int done = 0; done < epochs && again > 0; done++) {
                Map<Opcode, Long> before = requests(metrics);
                long released = (done + 1L) * files;
                epoch(mounted.root(), files);
                eventually(() -> metrics.requests(Opcode.RELEASE) == released);
                Map<Opcode, Long> cost = requests(metrics);
                before.forEach((opcode, count) -> cost.merge(opcode, -count, Long::sum));
                again = cost.getOrDefault(Opcode.READ, 0L) + cost.getOrDefault(Opcode.LOOKUP, 0L);
                if (done > 0) {
                    isOpensAndReleases(cost, files);
                }
            }
            assertThat(again).isZero();
            for (int i = 0; i < files; i++) {
                assertThat(flagsOfAnOpen(fs, "f" + i) & OpenReply.KEEP_CACHE).isNotZero();
            }
        }
    }

    private static void isOpensAndReleases(Map<Opcode, Long> cost, int files) {
        Set<Opcode> free = Set.of(Opcode.READ, Opcode.LOOKUP, Opcode.FORGET, Opcode.BATCH_FORGET);
        cost.forEach((opcode, count) -> {
            boolean counted = opcode == Opcode.OPEN || opcode == Opcode.RELEASE;
            if (!free.contains(opcode)) {
                assertThat(count).as(opcode.name()).isEqualTo(counted ? files : 0);
            }
        });
    }

    private static int flagsOfAnOpen(AlluxioFileSystem fs, String name) {
        Entry entry = new Entry();
        assertThat(fs.lookup(INLINE, FileSystem.ROOT, Name.of(name), entry)).isZero();
        OpenReply open = new OpenReply();
        assertThat(fs.open(INLINE, entry.node, 0, open)).isZero();
        assertThat(fs.release(INLINE, entry.node, open.handle)).isZero();
        return open.flags;
    }

    private static Map<Opcode, Long> requests(SessionMetrics metrics) {
        Map<Opcode, Long> counts = new EnumMap<>(Opcode.class);
        for (Opcode opcode : Opcode.values()) {
            counts.put(opcode, metrics.requests(opcode));
        }
        return counts;
    }

    private static void epoch(Path root, int files) throws Exception {
        for (int i = 0; i < files; i++) {
            assertThat(new String(bytes(root.resolve("f" + i)), StandardCharsets.UTF_8))
                    .isEqualTo("hello " + i);
        }
    }

    /** Opens, reads and closes: no more system calls than that. */
    private static byte[] bytes(Path file) throws IOException {
        try (FileChannel open = FileChannel.open(file)) {
            ByteBuffer content = ByteBuffer.allocate(100);
            open.read(content);
            return Arrays.copyOf(content.array(), content.position());
        }
    }

    @Test
    void aFileThatOthersRenameIsReadThroughItsStream() throws Exception {
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem one = MountedFileSystem.mount(
                        SharedAlluxio.open(folder, Map.of("short_circuit", "off")), TransportChoice.AUTO);
                MountedFileSystem two =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            Files.writeString(two.root().resolve("f"), "hello");
            try (FileChannel open = FileChannel.open(one.root().resolve("f"))) {
                Files.move(two.root().resolve("f"), two.root().resolve("g"));
                ByteBuffer content = ByteBuffer.allocate(100);
                open.read(content);
                assertThat(content.flip()).isEqualTo(ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8)));
            }
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
            Path here = one.root();
            Path there = two.root();
            Path file = Files.createFile(here.resolve("file"));
            Path seen = there.resolve("file");
            for (int i = 0; i < TRIES; i++) {
                Files.createFile(here.resolve("f" + i));
                Files.createFile(here.resolve("r" + i));
                Files.createDirectory(here.resolve("e" + i));
                Files.createSymbolicLink(here.resolve("s" + i), Path.of("before"));
            }
            isSeenInTime("a new file", i -> Files.createFile(here.resolve("n" + i)), i -> is(there, "n" + i));
            isSeenInTime("its listing", i -> Files.createFile(here.resolve("l" + i)), i -> lists(there, "l" + i));
            isSeenInTime("content", i -> Files.writeString(file, "c" + i), i -> holds(seen, "c" + i));
            isSeenInTime("a size", i -> Files.write(file, new byte[5 + i]), i -> Files.size(seen) == 5 + i);
            attributesAreSeenInTime(file, seen);
            isSeenInTime(
                    "a renaming",
                    i -> Files.move(here.resolve("f" + i), here.resolve("g" + i)),
                    i -> is(there, "g" + i) && !is(there, "f" + i));
            isSeenInTime("a removal", i -> Files.delete(here.resolve("r" + i)), i -> !is(there, "r" + i));
            foldersAndLinksAreSeenInTime(here, there);
        }
    }

    private static void attributesAreSeenInTime(Path file, Path seen) throws Exception {
        isSeenInTime(
                "a mode",
                i -> Files.setPosixFilePermissions(file, MODES.get(i)),
                i -> Files.getPosixFilePermissions(seen).equals(MODES.get(i)));
        isSeenInTime("an owner", i -> Files.setAttribute(file, "unix:uid", 1000 + i), i -> Files.getAttribute(
                        seen, "unix:uid")
                .equals(1000 + i));
        isSeenInTime(
                "a time",
                i -> Files.setLastModifiedTime(file, FileTime.fromMillis(1000 + i)),
                i -> Files.getLastModifiedTime(seen).toMillis() == 1000 + i);
        isSeenInTime("a cut", i -> cut(file, 3 - i), i -> Files.size(seen) == 3 - i);
        isSeenInTime("an attribute", i -> setAttribute(file, "a" + i), i -> hasAttribute(seen, "a" + i));
    }

    private static void foldersAndLinksAreSeenInTime(Path here, Path there) throws Exception {
        isSeenInTime("a folder", i -> Files.createDirectory(here.resolve("d" + i)), i -> is(there, "d" + i));
        isSeenInTime("its end", i -> Files.delete(here.resolve("e" + i)), i -> !is(there, "e" + i));
        isSeenInTime(
                "where a link leads",
                i -> link(here.resolve("s" + i), "after"),
                i -> leadsTo(there.resolve("s" + i), "after"));
    }

    /** By its path, as truncate(2) does. */
    private static void cut(Path file, int bytes) throws Exception {
        String[] command = {"truncate", "-s", String.valueOf(bytes), file.toString()};
        assertThat(new ProcessBuilder(command).start().waitFor()).isZero();
    }

    private static void link(Path link, String target) throws IOException {
        Files.delete(link);
        Files.createSymbolicLink(link, Path.of(target));
    }

    /** No while its name leads nowhere. */
    private static boolean leadsTo(Path link, String target) throws IOException {
        return Files.isSymbolicLink(link) && Files.readSymbolicLink(link).equals(Path.of(target));
    }

    private static boolean is(Path folder, String name) {
        return Files.exists(folder.resolve(name));
    }

    private static boolean lists(Path folder, String name) {
        return List.of(Objects.requireNonNull(folder.toFile().list())).contains(name);
    }

    private static boolean holds(Path file, String content) throws IOException {
        return Files.readString(file).equals(content);
    }

    private static void setAttribute(Path file, String value) throws IOException {
        Files.setAttribute(file, "user:seen", ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8)));
    }

    private static boolean hasAttribute(Path file, String value) throws IOException {
        UserDefinedFileAttributeView attributes =
                Objects.requireNonNull(Files.getFileAttributeView(file, UserDefinedFileAttributeView.class));
        return attributes.list().contains("seen")
                && Arrays.equals(
                        (byte[]) Files.getAttribute(file, "user:seen"), value.getBytes(StandardCharsets.UTF_8));
    }

    /** Makes the change of this number. */
    private interface Change {
        void make(int number) throws Exception;
    }

    /** Is the change of this number seen? */
    private interface Look {
        boolean sees(int number) throws Exception;
    }

    /** In each of some tries. What was before the change has been looked at a moment ago, and is believed. */
    private static void isSeenInTime(String what, Change change, Look look) throws Exception {
        for (int i = 0; i < TRIES; i++) {
            int number = i;
            assertThat(look.sees(number)).as("%s, before it is made", what).isFalse();
            change.make(number);
            Eventually.holds(what + ", try " + number, () -> look.sees(number));
        }
    }

    /** Whoever looks again is told the same. */
    @Test
    void aFileThatOthersRemovedIsMissingAtEveryOpen() throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, String> options = Map.of("metadata_ttl", "1h", "open_trust", "0");
        try (MountedFileSystem one =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
                MountedFileSystem two =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO)) {
            Files.writeString(one.root().resolve("f"), "hello");
            Path seen = two.root().resolve("f");
            assertThat(seen).hasContent("hello");
            Files.delete(one.root().resolve("f"));
            for (int look = 1; look <= 2; look++) {
                assertThatThrownBy(() -> FileChannel.open(seen))
                        .as("look %d", look)
                        .isInstanceOf(NoSuchFileException.class);
            }
            assertThat(seen).doesNotExist();
        }
    }

    /** It has no content any more, and its name is believed until its time is over. */
    @Test
    void aFileThatOthersRemovedIsStaleAtEveryReadWhileItIsBelieved() throws Exception {
        String folder = SharedAlluxio.folder();
        AlluxioFileSystem fs = SharedAlluxio.open(folder, Map.of("consistency", "ttl", "metadata_ttl", "1h"));
        try (MountedFileSystem one =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO);
                MountedFileSystem two = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            Files.writeString(one.root().resolve("f"), "hello");
            Path seen = two.root().resolve("f");
            assertThat(Files.size(seen)).isEqualTo(5);
            Files.delete(one.root().resolve("f"));
            for (int look = 1; look <= 2; look++) {
                assertThatThrownBy(() -> Files.readString(seen))
                        .as("look %d", look)
                        .hasMessageContaining("Stale file handle");
            }
            assertThat(fs.invalidate("/f")).isEqualTo(1);
            for (int look = 1; look <= 2; look++) {
                assertThatThrownBy(() -> Files.readString(seen))
                        .as("look %d", look)
                        .isInstanceOf(NoSuchFileException.class);
            }
        }
    }

    @Test
    void filesThatNeverChangeAreAskedForOnce() throws Exception {
        String folder = SharedAlluxio.folder();
        Path below = Files.writeString(SharedAlluxio.ufs(folder).resolve("f"), "as it was");
        Map<String, String> options =
                Map.of("consistency", "immutable", "metadata_ttl", "0", "open_trust", "0", "short_circuit", "off");
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO)) {
            Path file = mounted.root().resolve("f");
            assertThat(file).hasContent("as it was");
            assertThat(mounted.root().toFile().list()).hasSize(1);
            Files.delete(below);
            // What was begun before may still be on its way.
            eventually(() -> callsOfFiveOpens(file).isEmpty());
        }
    }

    private static Map<String, Long> callsOfFiveOpens(Path file) throws IOException {
        Map<String, Long> before = MasterCalls.counts();
        for (int i = 0; i < 5; i++) {
            assertThat(Files.size(file)).isEqualTo("as it was".length());
            FileChannel.open(file).close();
        }
        return MasterCalls.since(before);
    }

    @Test
    void openSeesWhatAnotherMountClosedBefore() throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, String> options = Map.of("metadata_ttl", "1h", "open_trust", "0");
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

    /**
     * While a directory stands as it was listed, opens of its files cost a call a second for all of them together, and what
     * another mount closes is seen when the directory's second is over.
     */
    @Test
    void aDirectoryThatStandsIsNotListedAgainUntilAnotherMountChangesIt() throws Exception {
        String folder = SharedAlluxio.folder();
        int files = 40;
        for (int i = 0; i < files; i++) {
            Files.writeString(SharedAlluxio.ufs(folder).resolve("f" + i), "hello " + i);
        }
        Map<String, String> options = Map.of("metadata_ttl", "1h", "open_trust", "1s");
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger rounds = new AtomicInteger();
        OffsetClock clock = new OffsetClock();
        try (MountedFileSystem one = MountedFileSystem.mount(
                        AlluxioMount.open(SharedAlluxio.at(folder), SharedAlluxio.options(options), clock),
                        TransportChoice.AUTO);
                MountedFileSystem two =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO)) {
            CompletableFuture<Void> reading =
                    CompletableFuture.runAsync(() -> readUntil(over, one.root(), files, rounds));
            try {
                eventually(() -> callsOfAWhile(clock, rounds) <= 6);
                for (int i = 0; i < TRIES; i++) {
                    String content = "new " + i;
                    Files.writeString(two.root().resolve("f7"), content);
                    // An hour if nobody looked at the directory.
                    Eventually.holds(
                            "it is seen",
                            () -> Files.readString(one.root().resolve("f7")).equals(content));
                }
            } finally {
                over.set(true);
                reading.join();
            }
        }
    }

    private static void readUntil(AtomicBoolean over, Path root, int files, AtomicInteger rounds) {
        try {
            while (!over.get()) {
                for (int i = 0; i < files; i++) {
                    bytes(root.resolve("f" + i));
                }
                rounds.incrementAndGet();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Calls to the master in two seconds by the mount's clock, in which all is read often; a listing counts as many. */
    private static long callsOfAWhile(OffsetClock clock, AtomicInteger rounds) throws InterruptedException {
        Map<String, Long> before = MasterCalls.counts();
        for (int step = 0; step < 4; step++) {
            clock.advance(Duration.ofMillis(500));
            int readSoFar = rounds.get();
            Eventually.holds("all is read", () -> rounds.get() >= readSoFar + 5);
        }
        return MasterCalls.since(before).entrySet().stream()
                .mapToLong(call -> call.getKey().startsWith("ListStatus") ? 100 * call.getValue() : call.getValue())
                .sum();
    }

    private static void eventually(Callable<Boolean> condition) throws Exception {
        Eventually.<Exception>holds("it comes true", condition::call);
    }
}
