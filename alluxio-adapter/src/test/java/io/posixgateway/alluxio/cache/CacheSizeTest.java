package io.posixgateway.alluxio.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.inode.CacheBytes;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.inode.InodeTable;
import io.posixgateway.alluxio.posix.Identities;
import io.posixgateway.fuse.spi.Name;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a cached file costs: memory that stays, divided by the number of files. */
class CacheSizeTest {
    private static final int FILES = 300_000;
    private static final int FILES_A_DIRECTORY = 1000;
    private static final int MOST_BYTES = 200;

    private final CacheBytes bytes = new CacheBytes(Long.MAX_VALUE);
    private final FactsReader reader = new FactsReader(Identities.ofHost(), -1, -1, 0, bytes);
    private final InodeTable table = new InodeTable("/", 0, FILES * 2, bytes);

    @Test
    void aCachedFileTakesAtMostTwoHundredBytes() {
        fill(0, 2 * FILES_A_DIRECTORY);
        long before = retainedBytes();
        fill(2 * FILES_A_DIRECTORY, FILES);
        double each = (double) (retainedBytes() - before) / (FILES - 2 * FILES_A_DIRECTORY);
        assertThat(table.size()).isGreaterThan(FILES);
        System.out.printf("a cached file takes %.0f bytes%n", each);
        assertThat(each).isBetween(50.0, (double) MOST_BYTES);
        double told = (double) table.estimatedBytes() / table.size();
        assertThat(each).as("of the %.0f bytes that are told", told).isBetween(0.75 * told, 1.25 * told);
    }

    private void fill(int from, int to) {
        Inode directory = table.root();
        for (int i = from; i < to; i++) {
            if (i % FILES_A_DIRECTORY == 0) {
                directory = add(table.root(), "n%08d".formatted(i), 1_000_000_000L + i, true);
            }
            add(directory, "n%08d_image.jpeg".formatted(i), ((long) i << 24) + 0xFFFFFF, false);
        }
    }

    private Inode add(Inode directory, String name, long id, boolean isDirectory) {
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
        table.attach(directory, Name.of(name), inode, id);
        return inode;
    }

    /** As answers of Alluxio bring it: a text of its own each time. */
    private static String fresh(String text) {
        return String.valueOf(text.toCharArray());
    }

    /** The least of a few, since other threads may have allocated between. */
    private static long retainedBytes() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }
}
