package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.mounted.PlainRequest;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A directory that changes, by this mount and by others, while it is read. It is longer than the pages it is read in. */
class DirectoryHandleTest {
    private static final int FILES = 2500;
    /** More than are kept of a listing. */
    private static final int MANY = 24_000;

    private static final int MAX_IN_A_REPLY = 37;
    private static final Request WAITING = new PlainRequest(true);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private MemoryMount mount;
    private AlluxioFileSystem files;

    /** Takes a few entries at a time, as they come. */
    private static final class Reply implements DirectoryWriter {
        final List<String> names = new ArrayList<>();
        final List<Long> offsets = new ArrayList<>();
        private int room = MAX_IN_A_REPLY;

        @Override
        public boolean plus() {
            return false;
        }

        @Override
        public boolean add(Name name, long nextOffset, long inode, int type) {
            if (room-- <= 0) {
                return false;
            }
            names.add(name.toString());
            offsets.add(nextOffset);
            return true;
        }

        @Override
        public boolean add(Name name, long nextOffset, Entry entry) {
            return add(name, nextOffset, entry.node, 0);
        }

        long last(long before) {
            return offsets.isEmpty() ? before : offsets.get(offsets.size() - 1);
        }

        void more() {
            room = MAX_IN_A_REPLY;
        }
    }

    @BeforeEach
    void makeFiles() {
        make(FILES);
        mount = mount();
        files = mount.fileSystem();
    }

    private void make(int count) {
        for (int i = 0; i < count; i++) {
            cluster.ufs().write("/" + name(i), new byte[0]);
        }
    }

    /** Names are believed for long, so that what is seen is not what a new look brought. */
    private MemoryMount mount() {
        return MemoryMount.of(cluster.connect()).with("metadata_ttl", "1h").open();
    }

    @AfterEach
    void close() {
        mount.close();
    }

    private static String name(int number) {
        return "f%05d".formatted(number);
    }

    private static long open(FileSystem files) {
        OpenReply reply = new OpenReply();
        assertThat(files.opendir(WAITING, FileSystem.ROOT, 0, reply)).isZero();
        return reply.handle;
    }

    /** Reads until so many names are there, or to the end; returns the offset behind the last. */
    private static long read(FileSystem files, long handle, long from, int most, Reply into) {
        long offset = from;
        while (into.names.size() < most) {
            int before = into.names.size();
            into.more();
            assertThat(files.readdir(WAITING, FileSystem.ROOT, handle, offset, into))
                    .isZero();
            if (into.names.size() == before) {
                return offset;
            }
            offset = into.last(offset);
        }
        return offset;
    }

    private void assertComplete(List<String> names, List<String> changed) {
        List<String> expected = new ArrayList<>(List.of(".", ".."));
        for (int i = 0; i < FILES; i++) {
            expected.add(name(i));
        }
        expected.removeAll(changed);
        List<String> seen = new ArrayList<>(names);
        seen.removeAll(changed);
        assertThat(seen).containsExactlyElementsOf(expected);
    }

    @Test
    void readdir_whileNamesComeAndGo_showsThoseThatStayOnce() {
        long handle = open(files);
        Reply reply = new Reply();
        long offset = read(files, handle, 0, 1200, reply);
        List<String> changed = new ArrayList<>();
        for (int i = 3; i < FILES; i += 100) {
            assertThat(files.unlink(WAITING, FileSystem.ROOT, Name.of(name(i)))).isZero();
            changed.add(name(i));
            String fresh = name(i) + "-new";
            assertThat(files.mkdir(WAITING, FileSystem.ROOT, Name.of(fresh), 0755, new Entry()))
                    .isZero();
            changed.add(fresh);
        }
        read(files, handle, offset, Integer.MAX_VALUE, reply);
        assertComplete(reply.names, changed);
    }

    /** Takes nodes, as the kernel does, which forgets them later. */
    private static final class Nodes implements DirectoryWriter {
        final Map<String, Long> nodes = new LinkedHashMap<>();
        private final String last;
        private final Runnable behind;

        Nodes(String last, Runnable behind) {
            this.last = last;
            this.behind = behind;
        }

        @Override
        public boolean plus() {
            return true;
        }

        @Override
        public boolean add(Name name, long nextOffset, long inode, int type) {
            throw new AssertionError("of a plain listing");
        }

        @Override
        public boolean add(Name name, long nextOffset, Entry entry) {
            nodes.put(name.toString(), entry.node);
            if (name.toString().equals(last)) {
                behind.run();
            }
            return true;
        }
    }

    @Test
    void readdirplus_whereADirectoryCannotBeShown_showsTheOthers() {
        assertThat(files.mkdir(WAITING, FileSystem.ROOT, Name.of("f00001-made"), 0755, new Entry()))
                .isZero();
        InodeTable table = files.volume.table;
        Inode made =
                Objects.requireNonNull(table.get(mount.lookup("/f00001-made").id()));
        mount.faults().on(StoreCall.STATUS).at("/f00001-made").always().fail(Errno.EIO);
        Nodes reply =
                new Nodes(name(1), () -> made.timesAreOld(table.generation().changed()));
        assertThat(files.readdir(WAITING, FileSystem.ROOT, open(files), 0, reply))
                .isZero();
        assertThat(reply.nodes).hasSize(FILES + 3).containsEntry("f00001-made", 0L);
        assertThat(reply.nodes.get(name(FILES - 1))).isNotZero();
    }

    @Test
    void readdir_ofLongDirectory_beginsAtOnceAndNeverHoldsAll() {
        make(MANY);
        assertThat(mount.list("/")).as("loads the names").hasSize(MANY);
        try (MemoryMount smallMount =
                MemoryMount.of(cluster.connect()).with("cache_entries", "1000").open()) {
            AlluxioFileSystem small = smallMount.fileSystem();
            long handle = open(small);
            smallMount.faults().forgetCounts();
            Reply start = new Reply();
            assertThat(small.readdir(WAITING, FileSystem.ROOT, handle, 0, start))
                    .isZero();
            assertThat(start.names).hasSize(MAX_IN_A_REPLY);
            Map<StoreCall, Integer> calls = smallMount.faults().counts();
            assertThat(calls.entrySet().stream()
                            .filter(call -> call.getKey() != StoreCall.CLUSTER_ID)
                            .mapToInt(Map.Entry::getValue)
                            .sum())
                    .as("calls for the first names, and for the next part: %s", calls)
                    .isLessThanOrEqualTo(3);
            Reply all = new Reply();
            long offset = 0;
            while (all.names.size() < MANY + 2) {
                int some = all.names.size();
                offset = read(small, handle, offset, some + 1000, all);
                assertThat(all.names.size()).isGreaterThan(some);
                assertThat(small.counts().inodes()).isLessThan(MANY / 4);
            }
            assertThat(all.names).doesNotHaveDuplicates();
        }
    }

    @Test
    void readdir_atEarlierOffset_continuesBehindItsName() {
        long handle = open(files);
        Reply reply = new Reply();
        long offset = read(files, handle, 0, 700, reply);
        int at = reply.names.size();
        read(files, handle, offset, Integer.MAX_VALUE, reply);
        List<String> changed = new ArrayList<>();
        for (int i = 0; i < 600; i += 7) {
            assertThat(files.unlink(WAITING, FileSystem.ROOT, Name.of(name(i)))).isZero();
            changed.add(name(i));
        }
        Reply again = new Reply();
        again.names.addAll(reply.names.subList(0, at));
        read(files, handle, offset, Integer.MAX_VALUE, again);
        assertComplete(again.names, changed);
    }

    /** Its name cannot be found any more, but for where it was on the page before. */
    @Test
    void readdir_atOffsetOfRemovedNameOnPageBefore_continuesBehindIt() {
        long handle = open(files);
        Reply reply = new Reply();
        read(files, handle, 0, 1200, reply);
        int at = 600;
        String gone = reply.names.get(at);
        assertThat(files.unlink(WAITING, FileSystem.ROOT, Name.of(gone))).isZero();
        Reply again = new Reply();
        again.names.addAll(reply.names.subList(0, at + 1));
        read(files, handle, reply.offsets.get(at), Integer.MAX_VALUE, again);
        assertComplete(again.names, List.of(gone));
    }

    /** As a program goes back to with seekdir(3). */
    @Test
    void readdir_atOffsetOfNameThatIsGone_onPagesLongBefore_continuesBehindIt() {
        long handle = open(files);
        Reply reply = new Reply();
        read(files, handle, 0, Integer.MAX_VALUE, reply);
        int deleted = 300;
        int renamed = 600;
        assertThat(files.unlink(WAITING, FileSystem.ROOT, Name.of(reply.names.get(deleted))))
                .isZero();
        assertThat(files.rename(
                        WAITING, FileSystem.ROOT, Name.of(reply.names.get(renamed)), FileSystem.ROOT, Name.of("z"), 0))
                .isZero();
        List<String> changed = List.of(reply.names.get(deleted), reply.names.get(renamed), "z");
        for (int at : new int[] {renamed, deleted}) {
            Reply again = new Reply();
            again.names.addAll(reply.names.subList(0, at + 1));
            read(files, handle, reply.offsets.get(at), Integer.MAX_VALUE, again);
            assertComplete(again.names, changed);
        }
    }

    /** The listing goes on where it was, not behind the name that the file had before. */
    @Test
    void readdir_whileFilesReplaceOthers_doesNotGoBack() {
        long handle = open(files);
        Reply reply = new Reply();
        long offset = read(files, handle, 0, 300, reply);
        for (int i = 0; i < 200; i++) {
            assertThat(files.rename(
                            WAITING, FileSystem.ROOT, Name.of(name(i)), FileSystem.ROOT, Name.of(name(i + 500)), 0))
                    .isZero();
        }
        offset = read(files, handle, offset, 720, reply);
        int replaced = reply.names.indexOf(name(550));
        Reply again = new Reply();
        read(files, handle, reply.offsets.get(replaced), 1, again);
        assertThat(again.names.get(0)).isEqualTo(reply.names.get(replaced + 1));
        read(files, handle, offset, FILES + 1000, reply);
        assertComplete(reply.names, List.of());
    }

    /** An empty reply would be the end of the directory. */
    @Test
    void readdir_whenRestOfPageIsGone_continuesBehindIt() {
        long handle = open(files);
        Reply reply = new Reply();
        long offset = read(files, handle, 0, 500, reply);
        int shown = reply.names.size() - 2;
        List<String> changed = new ArrayList<>();
        for (int i = shown; i < 1000; i++) {
            assertThat(files.unlink(WAITING, FileSystem.ROOT, Name.of(name(i)))).isZero();
            changed.add(name(i));
        }
        Reply quick = new Reply();
        int said = files.readdir(new PlainRequest(false), FileSystem.ROOT, handle, offset, quick);
        assertThat(said == FileSystem.WOULD_WAIT || !quick.names.isEmpty()).isTrue();
        read(files, handle, offset, FILES, reply);
        assertComplete(reply.names, changed);
    }

    /** It comes at a name before those that are still to be read, so that no part of the listing has it. */
    @Test
    void readdir_whileOtherMountChangesDirectory_isNotKept() {
        String between = name(10) + "-between";
        try (MemoryMount other = mount()) {
            list(files);
            assertThat(files.invalidate("/")).isPositive();
            long handle = open(files);
            Reply reply = new Reply();
            long offset = read(files, handle, 0, 500, reply);
            other.mkdir("/" + between);
            read(files, handle, offset, Integer.MAX_VALUE, reply);
            assertComplete(reply.names, List.of());
        }
        Entry entry = new Entry();
        assertThat(files.lookup(WAITING, FileSystem.ROOT, Name.of(between), entry))
                .isZero();
        assertThat(entry.node).isNotZero();
        assertThat(list(files)).contains(between);
    }

    /** Names that are missing need no question then, nor does the next listing. The first of all loads the names. */
    @Test
    void readdir_whileNothingChanges_isKept() {
        list(files);
        list(files);
        mount.faults().forgetCounts();
        for (int i = 0; i < 3; i++) {
            assertThat(list(files)).hasSize(FILES + 2);
            Entry entry = new Entry();
            assertThat(files.lookup(WAITING, FileSystem.ROOT, Name.of("missing" + i), entry))
                    .isZero();
            assertThat(entry.node).isZero();
        }
        assertThat(mount.faults().counts()).isEmpty();
    }

    private static List<String> list(AlluxioFileSystem files) {
        Reply reply = new Reply();
        read(files, open(files), 0, Integer.MAX_VALUE, reply);
        return reply.names;
    }

    @Test
    void readdir_byNextProcessAtOffset_continuesBehindItsName() {
        Reply reply = new Reply();
        long offset = read(files, open(files), 0, 1500, reply);
        List<String> changed = new ArrayList<>();
        for (int i = 0; i < 1400; i += 9) {
            assertThat(files.unlink(WAITING, FileSystem.ROOT, Name.of(name(i)))).isZero();
            changed.add(name(i));
        }
        try (MemoryMount successor = mount()) {
            AlluxioFileSystem next = successor.fileSystem();
            read(next, open(next), offset, Integer.MAX_VALUE, reply);
        }
        assertComplete(reply.names, changed);
    }

    @Test
    void readdir_byNextProcessWhenNameOfOffsetIsGone_leavesNothingOut() {
        Reply reply = new Reply();
        long offset = read(files, open(files), 0, 1500, reply);
        String gone = reply.names.get(reply.names.size() - 1);
        assertThat(files.unlink(WAITING, FileSystem.ROOT, Name.of(gone))).isZero();
        try (MemoryMount successor = mount()) {
            AlluxioFileSystem next = successor.fileSystem();
            read(next, open(next), offset, Integer.MAX_VALUE, reply);
        }
        for (int i = 0; i < FILES; i++) {
            assertThat(reply.names).contains(name(i));
        }
    }
}
