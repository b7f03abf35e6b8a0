package io.posixgateway.alluxio.client;

import alluxio.client.file.FileOutStream;
import alluxio.client.file.FileSystemContext;
import alluxio.client.file.URIStatus;
import alluxio.client.file.options.OutStreamOptions;
import alluxio.conf.AlluxioConfiguration;
import alluxio.grpc.CreateFilePOptions;
import alluxio.grpc.SetAttributePOptions;
import alluxio.grpc.WritePType;
import alluxio.grpc.XAttrPropagationStrategy;
import alluxio.security.authorization.Mode;
import alluxio.shaded.client.com.google.protobuf.ByteString;
import alluxio.util.FileSystemOptionsUtils;
import alluxio.wire.OperationId;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Makes new files: one call to the master takes the name and says all of the file but its content. And writes over files. Any thread. */
final class FileCreator {
    private final FileSystemContext context;
    private final FileSystemMaster master;
    private final WritePType writeType;
    private final WorkerHealth watch;
    private final BlockStreams streams;

    FileCreator(
            FileSystemContext context,
            FileSystemMaster master,
            BlockStreams streams,
            WorkerHealth watch,
            WritePType writeType) {
        this.context = context;
        this.master = master;
        this.streams = streams;
        this.watch = watch;
        this.writeType = writeType;
    }

    /** @param number with the same one again, Alluxio answers what the first call made */
    StoreWriter make(String path, int mode, Map<String, ByteString> xattrs, UUID number) throws StoreException {
        AlluxioConfiguration configuration = master.configured(path);
        CreateFilePOptions defaults = FileSystemOptionsUtils.createFileDefaults(configuration, false);
        CreateFilePOptions options = defaults.toBuilder()
                .setCommonOptions(
                        defaults.getCommonOptions().toBuilder().setOperationId(new OperationId(number).toFsProto()))
                .setMode(new Mode((short) (mode & 0777)).toProto())
                .setWriteType(writeType)
                .putAllXattr(xattrs)
                .setXattrPropStrat(XAttrPropagationStrategy.LEAF_NODE)
                .build();
        URIStatus made = master.create(path, options);
        OutStreamOptions out = at(made, options, configuration);
        WriteWorkerSelector workers = new WriteWorkerSelector(watch, out.getLocationPolicy());
        out.setLocationPolicy(workers);
        return new StreamWriter(path, made, workers, length -> open(path, made.getFileId(), out, length));
    }

    private OutStreamOptions at(URIStatus file, CreateFilePOptions options, AlluxioConfiguration configuration)
            throws StoreException {
        OutStreamOptions out = new OutStreamOptions(options, context, configuration);
        out.setUfsPath(file.getUfsPath());
        out.setMountId(file.getMountId());
        out.setAcl(file.getAcl());
        return out;
    }

    /** As {@link Store#overwrite}, in an object store. */
    @Nullable
    StoreWriter overwrite(String path, long fileId) throws StoreException {
        URIStatus there = Existing.orNull(() -> master.status(path));
        if (there == null || !isOverwritable(there, fileId) || !mayGiveBack(path, there)) {
            return null;
        }
        AlluxioConfiguration configuration = master.configured(path);
        CreateFilePOptions options = FileSystemOptionsUtils.createFileDefaults(configuration, false).toBuilder()
                .setWriteType(WritePType.THROUGH)
                .build();
        OutStreamOptions out = at(there, options, configuration);
        WriteWorkerSelector workers = new WriteWorkerSelector(watch, out.getLocationPolicy());
        out.setLocationPolicy(workers);
        return new StreamWriter(
                path,
                there,
                workers,
                length -> new PersistedOutStream(context, completed -> {}, path, out, streams, null));
    }

    private static boolean isOverwritable(URIStatus there, long fileId) {
        return there.getFileId() == fileId && there.isCompleted() && there.isPersisted() && !there.isFolder();
    }

    /** Gives the file the owner and the group that it has. Whoever may do that may write to it, too. */
    private boolean mayGiveBack(String path, URIStatus there) throws StoreException {
        try {
            master.setAttribute(
                    path,
                    SetAttributePOptions.newBuilder()
                            .setOwner(there.getOwner())
                            .setGroup(there.getGroup())
                            .build());
            return true;
        } catch (StoreException e) {
            return false; // where nobody answers, the other way says so
        }
    }

    private FileOutStream open(String path, long fileId, OutStreamOptions options, long lengthBytes)
            throws IOException {
        if (!options.getUnderStorageType().isSyncPersist()) {
            return new WorkerOutStream(context, master, path, fileId, options, streams);
        }
        CachedBlocks cached = options.getAlluxioStorageType().isStore()
                ? new CachedBlocks(context, streams, options, fileId, lengthBytes)
                : null;
        return new PersistedOutStream(
                context, complete -> master.complete(path, fileId, complete), path, options, streams, cached);
    }
}
