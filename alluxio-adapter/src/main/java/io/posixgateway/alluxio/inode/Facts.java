package io.posixgateway.alluxio.inode;

import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Stat;

/**
 * What was seen of a file at one moment: immutable, replaced as a whole.
 *
 * @param fetchedNanos when, by the volume's clock
 * @param raw what Alluxio said, from which the rest follows
 * @param lengthBytes as stat(2) shows it: of a symlink, that of its target
 * @param mode type and permissions
 * @param target where a symlink leads; empty otherwise
 */
public record Facts(
        long fetchedNanos,
        FileStatus raw,
        long lengthBytes,
        int mode,
        int uid,
        int gid,
        int device,
        long modifiedSeconds,
        int modifiedNanos,
        long accessedSeconds,
        int accessedNanos,
        long changedSeconds,
        int changedNanos,
        Name target) {
    private static final int IO_BYTES = 1 << 20;

    /** Shows them in a reply; the time for which they are valid is the caller's to set. */
    public void show(long node, Attributes attributes) {
        attributes.inode = node;
        attributes.sizeBytes = lengthBytes;
        attributes.blocks = (lengthBytes + 511) / 512;
        attributes.mode = mode;
        attributes.links = Stat.isDirectory(mode) ? 2 : 1;
        attributes.uid = uid;
        attributes.gid = gid;
        attributes.device = device;
        attributes.blockSizeBytes = IO_BYTES;
        attributes.accessSeconds = accessedSeconds;
        attributes.accessNanos = accessedNanos;
        attributes.modifySeconds = modifiedSeconds;
        attributes.modifyNanos = modifiedNanos;
        attributes.changeSeconds = changedSeconds;
        attributes.changeNanos = changedNanos;
    }

    /** Is the content of a file the same as in the other facts, as far as can be seen? */
    public boolean sameContent(Facts other) {
        return raw.id() == other.raw.id()
                && lengthBytes == other.lengthBytes
                && raw.complete() == other.raw.complete()
                && raw.modifiedMillis() == other.raw.modifiedMillis();
    }
}
