package io.posixgateway.alluxio.control;

import io.posixgateway.alluxio.fs.VolumeCounts;
import io.posixgateway.alluxio.gateway.MemoryCounts;
import io.posixgateway.alluxio.nodecache.CacheFigures;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a volume takes of what all volumes of the process share, in words. */
final class BudgetLines {
    private BudgetLines() {}

    static List<String> of(VolumeCounts volume, MemoryCounts process) {
        List<String> lines = new ArrayList<>(List.of(
                String.format(
                        Locale.ROOT,
                        "metadata: %s for %d files and directories; volumes: %d, together %s of %s",
                        mebibytes(volume.inodes().estimatedBytes()),
                        volume.inodes().size(),
                        process.volumes(),
                        mebibytes(process.cacheBytes()),
                        mebibytes(process.cacheLimitBytes())),
                String.format(
                        Locale.ROOT,
                        "read-ahead: %s of %s; block files: %d of %d",
                        mebibytes(volume.buffers().usedBytes()),
                        mebibytes(volume.buffers().totalBytes()),
                        volume.blocks().size(),
                        volume.blocks().most()),
                String.format(
                        Locale.ROOT,
                        "spool: %s of %s; the disk has room for %s",
                        mebibytes(volume.spool().usedBytes()),
                        mebibytes(volume.spool().mostBytes()),
                        mebibytes(volume.spool().diskBytes())),
                String.format(Locale.ROOT, "memory: %.0f %% in use, %s", 100 * process.usedPart(), process.state())));
        CacheFigures cache = volume.cache();
        if (cache != null) {
            lines.add(String.format(
                    Locale.ROOT,
                    "data cache: %s of %s; pieces: %d, dropped %d, scrubbed %d",
                    mebibytes(cache.bytes()),
                    mebibytes(cache.limitBytes()),
                    cache.pieces(),
                    cache.dropped(),
                    cache.scrubbed()));
        }
        return lines;
    }

    private static String mebibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f MiB", bytes / (double) (1 << 20));
    }
}
