package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.posix.IdMapper;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.Map;
import java.util.StringJoiner;

/**
 * The tables of a mount, filled as listings of Alluxio fill them, with names that there are nowhere: a thousand in each
 * directory, and attributes of their own.
 */
public final class CachedNames {
    static final int FILES_A_DIRECTORY = 1000;

    private final MemoryAccounting bytes = new MemoryAccounting(Long.MAX_VALUE);
    private final AttrDecoder reader =
            new AttrDecoder(IdMapper.ofHost(Clock.system()), -1, -1, GroupAccess.NONE, 0, bytes);
    private final InodeTable table;
    private Inode directory;

    CachedNames(int most) {
        table = new InodeTable("/", 0, most, bytes, NameCodec.ESCAPED, Clock.system());
        directory = table.root();
    }

    InodeTable table() {
        return table;
    }

    /** @param from where the last call ended */
    void fill(int from, int to) {
        for (int i = from; i < to; i++) {
            if (i % FILES_A_DIRECTORY == 0) {
                directory = add(table.root(), "n%08d".formatted(i), 1_000_000_000L + i, true);
            }
            add(directory, "n%08d_image.jpeg".formatted(i), ((long) i << 24) + 0xFFFFFF, false);
        }
    }

    private Inode add(Inode parent, String name, long id, boolean isDirectory) {
        Inode inode = table.of(id, isDirectory);
        FileStatus status = new FileStatus(
                id,
                name,
                isDirectory,
                true,
                id % 100_000,
                64 << 20,
                0644,
                fresh("root"),
                fresh("root"),
                1_700_000_000_000L + id % 1000,
                1_700_000_000_000L + id % 1000,
                Map.of());
        inode.see(reader.read(status, id));
        table.attach(parent, Name.of(name), inode, id);
        return inode;
    }

    /** As answers of Alluxio bring it: a text of its own each time. */
    private static String fresh(String text) {
        return String.valueOf(text.toCharArray());
    }

    /** The least of a few, since other threads may have allocated between. */
    static long retainedBytes() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    private static double bytesOfEach(int names) {
        long before = retainedBytes();
        CachedNames cached = new CachedNames(2 * names);
        try {
            cached.fill(0, names);
            if (cached.table.size() < names) {
                throw new IllegalStateException("%d of %d names are there".formatted(cached.table.size(), names));
            }
            return (double) (retainedBytes() - before) / names;
        } finally {
            Reference.reachabilityFence(cached);
        }
    }

    /** Arguments: how many names. Prints, as one JSON object, the bytes on the heap of each of so many. */
    public static void main(String[] arguments) {
        bytesOfEach(10 * FILES_A_DIRECTORY);
        StringJoiner all = new StringJoiner(", ", "{", "}");
        for (String names : arguments) {
            all.add("\"%s\": %.1f".formatted(names, bytesOfEach(Integer.parseInt(names))));
        }
        System.out.println(all);
    }
}
