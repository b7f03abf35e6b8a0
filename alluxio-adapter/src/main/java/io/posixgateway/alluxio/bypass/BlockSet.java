package io.posixgateway.alluxio.bypass;

import io.posixgateway.alluxio.read.BlockFolder;
import java.util.List;

/**
 * The block files of one file.
 *
 * @param bypassResult GIVEN, or why there are none to be given
 * @param content changes with the file's content
 * @param firstBlock id of the first block; the others follow
 * @param folders where block files are
 */
public record BlockSet(
        BypassResult bypassResult,
        long content,
        long lengthBytes,
        long blockBytes,
        int blocks,
        long firstBlock,
        List<BlockFolder> folders) {
    /** There are none to be given. */
    public static BlockSet refused(BypassResult bypassResult) {
        return new BlockSet(bypassResult, 0, 0, 0, 0, 0, List.of());
    }
}
