package io.posixgateway.alluxio.client;

import alluxio.AlluxioURI;
import alluxio.client.file.FileSystem;
import alluxio.client.file.URIStatus;
import alluxio.conf.PropertyKey;
import alluxio.grpc.FileSystemMasterCommonPOptions;
import alluxio.grpc.GetStatusPOptions;
import alluxio.grpc.SetAttributePOptions;
import alluxio.proto.journal.File.XAttrUpdateStrategy;
import alluxio.security.authorization.Mode;
import alluxio.shaded.client.com.google.protobuf.ByteString;
import io.posixgateway.fuse.spi.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what Alluxio alone knows of a file (mode, owner, extended attributes) when its object is copied. Any thread; waits.
 *
 * <p>An object that was uploaded or is copied in parts gets another ETag by the copy. Alluxio compares that at the next metadata sync,
 * takes the file for another one, and loads it anew with the mode and owner of the bucket. Where Alluxio syncs, this has it do so
 * right after the copy, and sets the attributes again: others see the file without them for milliseconds. Where it never
 * does, which is its default, nothing is lost, and nothing is done: a file that is loaded anew is no longer in the workers.
 */
final class CopiedAttributes {
    private static final Logger LOG = LoggerFactory.getLogger(CopiedAttributes.class);
    /** The shortest part, but for the last one, that S3 takes: what is shorter is in one. */
    private static final long PART_BYTES = 5 << 20;

    private static final FileSystemMasterCommonPOptions SYNC =
            FileSystemMasterCommonPOptions.newBuilder().setSyncIntervalMs(0).build();
    private static final FileSystemMasterCommonPOptions NO_SYNC =
            FileSystemMasterCommonPOptions.newBuilder().setSyncIntervalMs(-1).build();

    private final FileSystem files;
    private final MasterCaller caller;

    CopiedAttributes(FileSystem files, MasterCaller caller) {
        this.files = files;
        this.caller = caller;
    }

    /** Does Alluxio compare files of this client with the under file system by itself? */
    boolean areSynced() {
        return files.getConf().getMs(PropertyKey.USER_FILE_METADATA_SYNC_INTERVAL) >= 0;
    }

    /** What is to be kept of a file that is about to be copied; null: nothing. */
    @Nullable
    URIStatus before(AlluxioURI path) throws StoreException {
        try {
            URIStatus status = caller.attempt("status", path.getPath(), () -> files.getStatus(path));
            return status.isFolder() || status.getLength() < PART_BYTES ? null : status;
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT) {
                return null; // the rename says so
            }
            throw e;
        }
    }

    /** The file was copied to this path. What fails here is logged: the file itself is there. */
    void keep(AlluxioURI path, URIStatus before) {
        try {
            URIStatus now = caller.attempt(
                    "sync",
                    path.getPath(),
                    () -> files.getStatus(
                            path,
                            GetStatusPOptions.newBuilder()
                                    .setCommonOptions(SYNC)
                                    .build()));
            if (now.getFileId() != before.getFileId()) {
                set(path, ofMode(before));
                if (!now.getOwner().equals(before.getOwner()) || !now.getGroup().equals(before.getGroup())) {
                    set(path, ofOwner(before));
                }
            }
        } catch (StoreException e) {
            LOG.warn("{} lost its mode, owner or extended attributes when it was copied: {}", path, e.getMessage());
        }
    }

    private void set(AlluxioURI path, SetAttributePOptions.Builder options) throws StoreException {
        caller.attempt("set attributes of", path.getPath(), () -> {
            files.setAttribute(path, options.setCommonOptions(NO_SYNC).build());
            return path;
        });
    }

    private static SetAttributePOptions.Builder ofMode(URIStatus before) {
        SetAttributePOptions.Builder options =
                SetAttributePOptions.newBuilder().setMode(new Mode((short) before.getMode()).toProto());
        if (before.getXAttr() != null && !before.getXAttr().isEmpty()) {
            options.setXattrUpdateStrategy(XAttrUpdateStrategy.UNION_REPLACE);
            before.getXAttr().forEach((name, value) -> options.putXattr(name, ByteString.copyFrom(value)));
        }
        return options;
    }

    /** Alluxio lets only its superuser change them. */
    private static SetAttributePOptions.Builder ofOwner(URIStatus before) {
        return SetAttributePOptions.newBuilder().setOwner(before.getOwner()).setGroup(before.getGroup());
    }
}
