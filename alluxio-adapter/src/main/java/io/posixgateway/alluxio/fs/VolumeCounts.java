package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.journal.DirectoryRenameLog;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.nodecache.CacheFigures;
import io.posixgateway.alluxio.read.BlockFiles;
import io.posixgateway.alluxio.read.BufferBudget;
import io.posixgateway.alluxio.write.SpoolFolder;
import org.jspecify.annotations.Nullable;

/**
 * Where the numbers of a volume are: read by whoever shows them, never on the way of a request.
 *
 * @param cache of the data cache; null: there is none
 * @param staleOpens opens that believed what was known last while no master answered
 */
public record VolumeCounts(
        Metadata metadata,
        InodeTable inodes,
        BlockFiles blocks,
        BufferBudget buffers,
        SpoolFolder spool,
        DirectoryRenameLog renames,
        @Nullable CacheFigures cache,
        long staleOpens) {}
