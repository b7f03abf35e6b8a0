package io.posixgateway.alluxio.nodecache;

import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/** A process that fills a cache, and evicts, until it is killed. */
final class FillingProcess {
    static final Tenant TENANT = new Tenant(9);
    static final int FILES = 40;
    static final long ROOM_BYTES = 20L << 20;

    private FillingProcess() {}

    /** Files of one, or two, pieces; each a few times larger than what one system call writes at once. */
    static CacheKey file(int number) {
        return new CacheKey(TENANT, number, (long) number * (150 << 10), number);
    }

    /** Of each piece its own. */
    static byte[] content(CacheKey file, int piece) {
        ByteBuffer bytes = ByteBuffer.allocate(file.bytesOf(piece));
        long next = file.hash(piece);
        while (bytes.remaining() >= Long.BYTES) {
            bytes.putLong(next);
            next += next << 7 | 1;
        }
        return bytes.array();
    }

    static void keep(NodeCache cache, CacheKey file, int piece) {
        cache.keep(file, piece, List.of(ByteBuffer.wrap(content(file, piece))));
    }

    /** Prints a line at each step of a change, also in the middle of what it writes. */
    @SuppressWarnings("SystemOut")
    private static final class SteppedDisk extends ForwardingDisk {
        SteppedDisk(FolderDisk disk) {
            super(disk);
        }

        private static void step(String what) {
            System.out.println(what);
        }

        @Override
        public void write(String name, List<ByteBuffer> parts, boolean syncs) throws IOException {
            disk.write(name, List.of(half(parts.get(0))), syncs);
            step("half written");
            disk.write(name, parts, syncs);
            step("written");
        }

        @Override
        public void append(String name, ByteBuffer bytes) throws IOException {
            int half = bytes.limit() / 2;
            disk.append(name, bytes.slice(0, half));
            step("half appended");
            disk.append(name, bytes.slice(half, bytes.limit() - half));
            step("appended");
        }

        @Override
        public void rename(String from, String to) throws IOException {
            disk.rename(from, to);
            step("renamed");
        }

        @Override
        public void delete(String name) throws IOException {
            disk.delete(name);
            step("deleted");
        }

        @Override
        public void empty(String folder) throws IOException {
            disk.empty(folder);
        }
    }

    /** The folder, and a seed. */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        CacheFolder.prepare(folder);
        if (CacheFolder.tryLock(folder) == null) {
            throw new IOException(folder + " is locked");
        }
        NodeCache cache = NodeCache.of(
                new SteppedDisk(new LocalDisk(folder)),
                new Outage(folder.toString(), Clock.system()),
                ROOM_BYTES,
                OpenPieces.ofProcess(),
                Runnable::run);
        cache.load();
        Random random = new Random(Long.parseLong(arguments[1]));
        while (true) {
            CacheKey file = file(1 + random.nextInt(FILES));
            for (int piece = 0; piece < file.pieces(); piece++) {
                keep(cache, file, piece);
            }
        }
    }
}
