package io.posixgateway.fuse.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.Stat;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the reference file system answers, as ext4 does. */
class MemoryFileSystemTest {
    private static final int MIB = 1 << 20;
    private static final int BLOCK = 4096;
    private static final long TIB = 1L << 40;

    private final MemoryFileSystem files = new MemoryFileSystem(64 * MIB);
    private final Entry entry = new Entry();

    /** Of somebody. */
    private record Asking(int uid, int gid) implements Request {
        private static final Asking ROOT = new Asking(0, 0);

        @Override
        public long unique() {
            return 2;
        }

        @Override
        public boolean resent() {
            return false;
        }

        @Override
        public boolean inGroup(int group) {
            return group == gid;
        }

        @Override
        public boolean killsPrivileges() {
            return uid != 0;
        }

        @Override
        public int pid() {
            return 0;
        }

        @Override
        public int umask() {
            return 0;
        }

        @Override
        public boolean mayWait() {
            return true;
        }

        @Override
        public boolean interrupted() {
            return false;
        }
    }

    private long make(String name) {
        entry.clear();
        assertThat(files.mknod(Asking.ROOT, FileSystem.ROOT, Name.of(name), Stat.S_IFREG | 0644, 0, entry))
                .isZero();
        return entry.node;
    }

    private Attributes attributes(long node) {
        Attributes shown = new Attributes();
        assertThat(files.getattr(Asking.ROOT, node, 0, shown)).isZero();
        return shown;
    }

    private int write(Request request, long node, long offset, int bytes) {
        return files.write(request, node, 0, offset, ByteBuffer.allocateDirect(bytes));
    }

    private int change(Request request, long node, int valid, long size, int mode) {
        SetAttributes changes = new SetAttributes();
        changes.valid = valid;
        changes.sizeBytes = size;
        changes.mode = mode;
        return files.setattr(request, node, changes, new Attributes());
    }

    /** One reply of a listing. */
    private static final class Part implements DirectoryWriter {
        private static final int MAX = 50;

        private final List<Name> names = new ArrayList<>();
        private long next;

        @Override
        public boolean plus() {
            return false;
        }

        @Override
        public boolean add(Name name, long nextOffset, long inode, int type) {
            if (names.size() >= MAX) {
                return false;
            }
            names.add(name.copy());
            next = nextOffset;
            return true;
        }

        @Override
        public boolean add(Name name, long nextOffset, Entry shown) {
            return add(name, nextOffset, shown.node, 0);
        }
    }

    private interface Meanwhile {
        void shown(Name name);
    }

    private int list(Meanwhile meanwhile, int most) {
        Set<Name> dots = Set.of(Name.of("."), Name.of(".."));
        int shown = 0;
        long offset = 0;
        while (shown <= most) {
            Part part = new Part();
            assertThat(files.readdir(Asking.ROOT, FileSystem.ROOT, 0, offset, part))
                    .isZero();
            if (part.names.isEmpty()) {
                return shown;
            }
            offset = part.next;
            part.names.removeAll(dots);
            part.names.forEach(meanwhile::shown);
            shown += part.names.size();
        }
        return shown;
    }

    private void rename(Name from, Name to) {
        assertThat(files.rename(Asking.ROOT, FileSystem.ROOT, from, FileSystem.ROOT, to, 0))
                .isZero();
    }

    @Test
    void listing_whoseNamesAreRenamedAwayAndBack_endsAndShowsEachOnce() {
        int count = 2500;
        for (int i = 0; i < count; i++) {
            make("old" + i);
        }
        Set<Name> seen = new HashSet<>();
        Name away = Name.of("away");
        int shown = list(
                name -> {
                    assertThat(seen.add(name)).as("%s for the first time", name).isTrue();
                    rename(name, away);
                    rename(away, name);
                },
                4 * count);
        assertThat(shown).isEqualTo(count);
    }

    @Test
    void listing_whoseNamesGetNewOnes_ends() {
        int count = 2500;
        for (int i = 0; i < count; i++) {
            make("old" + i);
        }
        int shown = list(name -> rename(name, Name.of("x" + name)), 20 * count);
        assertThat(shown).isBetween(count, 10 * count);
        assertThat(list(name -> {}, 4 * count)).isEqualTo(count);
    }

    @Test
    void seek_inHole_findsTheBlockOfTheData() {
        long node = make("f");
        int at = 4 * MIB + 48 * 1024;
        assertThat(change(Asking.ROOT, node, SetAttributes.SIZE, 8 * MIB, 0)).isZero();
        assertThat(write(Asking.ROOT, node, at, BLOCK)).isEqualTo(BLOCK);
        assertThat(files.lseek(Asking.ROOT, node, 0, 0, Stat.SEEK_HOLE)).isZero();
        assertThat(files.lseek(Asking.ROOT, node, 0, 0, Stat.SEEK_DATA)).isEqualTo(at);
        assertThat(files.lseek(Asking.ROOT, node, 0, at, Stat.SEEK_HOLE)).isEqualTo(at + BLOCK);
        assertThat(files.lseek(Asking.ROOT, node, 0, at + BLOCK, Stat.SEEK_DATA))
                .isEqualTo(-Errno.ENXIO);
        assertThat(attributes(node).blocks).isEqualTo(BLOCK / 512);
    }

    @Test
    void blocks_areThoseOfTheContent() {
        long node = make("f");
        assertThat(write(Asking.ROOT, node, 0, 10_000)).isEqualTo(10_000);
        assertThat(attributes(node).blocks).isEqualTo(3 * BLOCK / 512);
    }

    @Test
    void farOffsets_areHoles_andTooFarOnesTooBig() {
        long node = make("f");
        assertThat(write(Asking.ROOT, node, 16 * TIB - 10, 10)).isEqualTo(10);
        assertThat(attributes(node).sizeBytes).isEqualTo(16 * TIB);
        assertThat(attributes(node).blocks).isEqualTo(BLOCK / 512);
        assertThat(files.lseek(Asking.ROOT, node, 0, 0, Stat.SEEK_DATA)).isEqualTo(16 * TIB - BLOCK);
        assertThat(write(Asking.ROOT, node, 16 * TIB, 1)).isEqualTo(-Errno.EFBIG);
        assertThat(change(Asking.ROOT, node, SetAttributes.SIZE, 16 * TIB + 1, 0))
                .isEqualTo(-Errno.EFBIG);
        assertThat(files.fallocate(Asking.ROOT, node, 0, 16 * TIB, 1, 0)).isEqualTo(-Errno.EFBIG);
        assertThat(files.fallocate(Asking.ROOT, node, 0, 0, 16 * TIB, 0)).isEqualTo(-Errno.ENOSPC);
        int punch = Stat.FALLOC_PUNCH_HOLE | Stat.FALLOC_KEEP_SIZE;
        assertThat(files.fallocate(Asking.ROOT, node, 0, 0, Long.MAX_VALUE, punch))
                .isZero();
        assertThat(attributes(node).blocks).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void change_byStranger_takesSetIdBitsOff(int kind) {
        Request stranger = new Asking(54321, 54321);
        Request member = new Asking(54321, 0);
        assertThat(modeAfter(kind, stranger, 02666)).isEqualTo(0666);
        assertThat(modeAfter(kind, stranger, 06755)).isEqualTo(0755);
        assertThat(modeAfter(kind, member, 06666)).isEqualTo(02666);
        assertThat(modeAfter(kind, Asking.ROOT, 06777)).isEqualTo(06777);
    }

    private int modeAfter(int kind, Request request, int mode) {
        long node = make("f" + files.inodes());
        assertThat(change(Asking.ROOT, node, SetAttributes.MODE, 0, mode)).isZero();
        int kill = request.killsPrivileges() ? SetAttributes.KILL_SUID_GID : 0;
        int result =
                switch (kind) {
                    case 0 -> write(request, node, 0, 10);
                    case 1 -> change(request, node, SetAttributes.SIZE | kill, 5, 0);
                    default -> files.fallocate(request, node, 0, 0, BLOCK, 0);
                };
        assertThat(result).isNotNegative();
        return attributes(node).mode & Stat.PERMISSIONS;
    }

    private int setxattr(long node, String name, int bytes) {
        return files.setxattr(Asking.ROOT, node, Name.of(name), ByteBuffer.allocateDirect(bytes), 0);
    }

    @Test
    void attributes_ofNoNamespace_areRefused() {
        long node = make("f");
        assertThat(setxattr(node, "nonsense.x", 1)).isEqualTo(-Errno.EOPNOTSUPP);
        assertThat(setxattr(node, "system.posix_acl_access", 1)).isEqualTo(-Errno.EOPNOTSUPP);
        assertThat(setxattr(node, "user", 1)).isEqualTo(-Errno.EOPNOTSUPP);
        assertThat(setxattr(node, "user.", 1)).isEqualTo(-Errno.EINVAL);
        assertThat(files.getxattr(Asking.ROOT, node, Name.of("nonsense.x"), ByteBuffer.allocateDirect(1)))
                .isEqualTo(-Errno.EOPNOTSUPP);
        assertThat(files.removexattr(Asking.ROOT, node, Name.of("nonsense.x"))).isEqualTo(-Errno.EOPNOTSUPP);
        assertThat(setxattr(node, "security.x", 1)).isZero();
    }

    /** The largest that Linux lets through. */
    @Test
    void attribute_of64KiB_isKept() {
        long node = make("f");
        assertThat(setxattr(node, "user.big", 1 << 16)).isZero();
        ByteBuffer into = ByteBuffer.allocateDirect(1 << 16);
        assertThat(files.getxattr(Asking.ROOT, node, Name.of("user.big"), into)).isEqualTo(1 << 16);
        int kept = 1;
        while (setxattr(node, "user.more" + kept, 1 << 16) == 0) {
            kept++;
        }
        assertThat(kept).isEqualTo(15);
    }

    @Test
    void attributes_takeRoomUntilTheyOrTheirFileGo() {
        MemoryFileSystem small = new MemoryFileSystem(MIB / 2);
        FileSystem.CreateReply reply = new FileSystem.CreateReply();
        assertThat(small.create(Asking.ROOT, FileSystem.ROOT, Name.of("f"), 0600, 0, reply))
                .isZero();
        long node = reply.entry.node;
        long before = small.usedBytes();
        Name name = Name.of("user.big");
        assertThat(small.setxattr(Asking.ROOT, node, name, ByteBuffer.allocateDirect(1 << 16), 0))
                .isZero();
        assertThat(small.usedBytes()).isGreaterThanOrEqualTo(before + (1 << 16));
        assertThat(small.setxattr(Asking.ROOT, node, name, ByteBuffer.allocateDirect(MIB / 2), 0))
                .isEqualTo(-Errno.ENOSPC);
        ByteBuffer kept = ByteBuffer.allocateDirect(1 << 16);
        assertThat(small.getxattr(Asking.ROOT, node, name, kept)).isEqualTo(1 << 16);
        assertThat(small.removexattr(Asking.ROOT, node, name)).isZero();
        assertThat(small.usedBytes()).isEqualTo(before);
        Name capability = Name.of("security.capability");
        assertThat(small.setxattr(Asking.ROOT, node, capability, ByteBuffer.allocateDirect(20), 0))
                .isZero();
        assertThat(small.write(new Asking(7, 7), node, 0, 0, ByteBuffer.allocateDirect(0)))
                .isZero();
        assertThat(small.setxattr(Asking.ROOT, node, name, ByteBuffer.allocateDirect(1 << 16), 0))
                .isZero();
        assertThat(small.unlink(Asking.ROOT, FileSystem.ROOT, Name.of("f"))).isZero();
        small.forget(node, 1);
        assertThat(small.usedBytes()).isEqualTo(before - Inode.OWN_BYTES);
    }

    @Test
    void write_takesCapabilitiesOff() {
        long node = make("f");
        assertThat(setxattr(node, "security.capability", 20)).isZero();
        assertThat(write(new Asking(7, 7), node, 0, 1)).isEqualTo(1);
        assertThat(files.getxattr(Asking.ROOT, node, Name.of("security.capability"), ByteBuffer.allocateDirect(20)))
                .isEqualTo(-Errno.ENODATA);
    }

    @Test
    void fileWithoutName_goesWhenTheKernelForgetsIt_unlessItGotOne() {
        FileSystem.CreateReply reply = new FileSystem.CreateReply();
        int before = files.inodes();
        assertThat(files.tmpfile(Asking.ROOT, FileSystem.ROOT, 0600, 0, reply)).isZero();
        long node = reply.entry.node;
        assertThat(reply.entry.attributes.links).isZero();
        assertThat(list(name -> {}, 10)).isZero();
        files.forget(node, 1);
        assertThat(files.inodes()).isEqualTo(before);
        reply.clear();
        assertThat(files.tmpfile(Asking.ROOT, FileSystem.ROOT, 0600, 0, reply)).isZero();
        node = reply.entry.node;
        assertThat(files.link(Asking.ROOT, node, FileSystem.ROOT, Name.of("name"), entry))
                .isZero();
        files.forget(node, 2);
        assertThat(list(name -> {}, 10)).isEqualTo(1);
        assertThat(files.unlink(Asking.ROOT, FileSystem.ROOT, Name.of("name"))).isZero();
        assertThat(files.inodes()).isEqualTo(before);
    }
}
