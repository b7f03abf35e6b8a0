package io.posixgateway.alluxio;

import io.posixgateway.alluxio.cache.Metadata;
import io.posixgateway.alluxio.data.BlockFiles;
import io.posixgateway.alluxio.data.BufferBudget;
import io.posixgateway.alluxio.inode.InodeTable;
import io.posixgateway.alluxio.recovery.DirectoryRenameLog;
import io.posixgateway.alluxio.write.SpoolFolder;

/** Where the numbers of a volume are: read by whoever shows them, never on the way of a request. */
public record VolumeCounts(
        Metadata metadata,
        InodeTable inodes,
        BlockFiles blocks,
        BufferBudget buffers,
        SpoolFolder spool,
        DirectoryRenameLog renames) {}
