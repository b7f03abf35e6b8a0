package io.posixgateway.alluxio.client;

import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getCompleteFileMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getCreateDirectoryMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getCreateFileMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getGetFilePathMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getGetMountTableMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getGetNewBlockIdForFileMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getGetStatusMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getListStatusPartialMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getRemoveMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getRenameMethod;
import static alluxio.grpc.FileSystemMasterClientServiceGrpc.getSetAttributeMethod;

import alluxio.AlluxioURI;
import alluxio.client.file.FileSystemContext;
import alluxio.client.file.ListStatusPartialResult;
import alluxio.client.file.URIStatus;
import alluxio.conf.AlluxioConfiguration;
import alluxio.grpc.CompleteFilePOptions;
import alluxio.grpc.CompleteFilePRequest;
import alluxio.grpc.CreateDirectoryPOptions;
import alluxio.grpc.CreateDirectoryPRequest;
import alluxio.grpc.CreateFilePOptions;
import alluxio.grpc.CreateFilePRequest;
import alluxio.grpc.DeletePOptions;
import alluxio.grpc.DeletePRequest;
import alluxio.grpc.FileInfo;
import alluxio.grpc.FileSystemMasterCommonPOptions;
import alluxio.grpc.GetFilePathPRequest;
import alluxio.grpc.GetMountTablePRequest;
import alluxio.grpc.GetNewBlockIdForFilePOptions;
import alluxio.grpc.GetNewBlockIdForFilePRequest;
import alluxio.grpc.GetStatusPOptions;
import alluxio.grpc.GetStatusPRequest;
import alluxio.grpc.GrpcUtils;
import alluxio.grpc.ListStatusPartialPOptions;
import alluxio.grpc.ListStatusPartialPRequest;
import alluxio.grpc.MountPointInfo;
import alluxio.grpc.RenamePOptions;
import alluxio.grpc.RenamePRequest;
import alluxio.grpc.SetAttributePOptions;
import alluxio.grpc.SetAttributePRequest;
import alluxio.uri.Authority;
import alluxio.util.FileSystemOptionsUtils;
import alluxio.wire.OperationId;
import io.posixgateway.alluxio.client.MasterClient.Repeat;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.util.Map;
import java.util.UUID;

/**
 * The calls of Alluxio's master that are about files. What a caller's options leave open is as it is configured for the path. Any thread;
 * waits.
 */
final class FileSystemMaster {
    private final FileSystemContext context;
    private final MasterClient master;

    FileSystemMaster(FileSystemContext context, MasterClient master) {
        this.context = context;
        this.master = master;
    }

    /** EINVAL for a path that Alluxio would read as another: backslashes become slashes, what follows a question mark is lost. */
    static AlluxioURI uri(String path) throws StoreException {
        if (!NameCodec.isAddressable(path)) {
            throw new StoreException(Errno.EINVAL, "Alluxio cannot hold this name: " + path, null);
        }
        return new AlluxioURI(null, Authority.fromString(""), path);
    }

    /** Waits for the settings of the cluster. */
    AlluxioConfiguration configured(String path) throws StoreException {
        AlluxioURI uri = uri(path);
        master.awaitSettings();
        return context.getPathConf(uri);
    }

    private static URIStatus status(FileInfo info) {
        return new URIStatus(GrpcUtils.fromProto(info));
    }

    URIStatus status(String path) throws StoreException {
        return status(path, GetStatusPOptions.getDefaultInstance());
    }

    URIStatus status(String path, GetStatusPOptions options) throws StoreException {
        GetStatusPOptions defaults = FileSystemOptionsUtils.getStatusDefaults(configured(path));
        GetStatusPRequest.Builder request = GetStatusPRequest.newBuilder().setPath(path);
        request.setOptions(defaults.toBuilder().mergeFrom(options));
        return status(master.send("status " + path, getGetStatusMethod(), request.build())
                .getFileInfo());
    }

    ListStatusPartialResult list(String path, ListStatusPartialPOptions options) throws StoreException {
        ListStatusPartialPOptions defaults = FileSystemOptionsUtils.listStatusPartialDefaults(configured(path));
        ListStatusPartialPRequest.Builder request =
                ListStatusPartialPRequest.newBuilder().setPath(path);
        request.setOptions(defaults.toBuilder().mergeFrom(options));
        return ListStatusPartialResult.fromProto(
                master.send("list " + path, getListStatusPartialMethod(), request.build(), Repeat.CUT_OFF));
    }

    String pathOf(long fileId) throws StoreException {
        GetFilePathPRequest.Builder request = GetFilePathPRequest.newBuilder().setFileId(fileId);
        return master.send("path of file " + fileId, getGetFilePathMethod(), request.build())
                .getPath();
    }

    /** @param options all of them, with an operation id */
    URIStatus create(String path, CreateFilePOptions options) throws StoreException {
        CreateFilePRequest.Builder request = CreateFilePRequest.newBuilder().setPath(path);
        request.setOptions(options);
        return status(master.send("create " + path, getCreateFileMethod(), request.build())
                .getFileInfo());
    }

    /** The id of the next block of a file that is being written. */
    long newBlock(String path) throws StoreException {
        GetNewBlockIdForFilePRequest.Builder request =
                GetNewBlockIdForFilePRequest.newBuilder().setPath(path);
        request.setOptions(GetNewBlockIdForFilePOptions.getDefaultInstance());
        return master.send("new block of " + path, getGetNewBlockIdForFileMethod(), request.build())
                .getId();
    }

    /**
     * Completes the file of this id. A leader that changes may know a completion by the first of its entries alone, by which it takes it
     * for done: where one was sent again, it is looked at the file.
     *
     * @param options all of them but for the operation id
     */
    void complete(String path, long fileId, CompleteFilePOptions.Builder options) throws IOException {
        try {
            completeFile(path, fileId, options);
        } catch (StoreException e) {
            throw cause(e);
        }
    }

    private void completeFile(String path, long fileId, CompleteFilePOptions.Builder options) throws StoreException {
        try {
            sendCompletion(path, options);
        } catch (StoreException e) {
            URIStatus there = e.isOfRepetition() ? status(path) : null;
            if (there == null || there.getFileId() != fileId) {
                throw e;
            }
            if (!there.isCompleted()) {
                sendCompletion(path, options);
            }
        }
    }

    /** With an operation id of its own. */
    private void sendCompletion(String path, CompleteFilePOptions.Builder options) throws StoreException {
        options.setCommonOptions(FileSystemMasterCommonPOptions.newBuilder()
                .setOperationId(new OperationId(UUID.randomUUID()).toFsProto()));
        CompleteFilePRequest.Builder request = CompleteFilePRequest.newBuilder().setPath(path);
        request.setOptions(options);
        master.send("complete " + path, getCompleteFileMethod(), request.build(), Repeat.UNANSWERED_CHANGE);
    }

    /** Of a failure, what the master said: without the path, whose words could be taken for those of a failure. */
    static IOException cause(StoreException failure) {
        Throwable cause = failure.getCause();
        return cause instanceof IOException said ? said : new IOException(cause == null ? failure : cause);
    }

    /** As {@link DirectoryCreator} has it: where it was sent again, it is not known who made what is there. */
    void makeDirectory(String path, CreateDirectoryPOptions options) throws StoreException {
        CreateDirectoryPOptions defaults = FileSystemOptionsUtils.createDirectoryDefaults(configured(path));
        CreateDirectoryPRequest.Builder request =
                CreateDirectoryPRequest.newBuilder().setPath(path);
        request.setOptions(defaults.toBuilder().mergeFrom(options));
        master.send("mkdir " + path, getCreateDirectoryMethod(), request.build(), Repeat.UNANSWERED_CHANGE);
    }

    /**
     * Of a file or an empty directory. Where it is sent again and nothing is there, it is done; what is there then may be what another client
     * made meanwhile, and is left.
     */
    void delete(String path, DeletePOptions options) throws StoreException {
        DeletePOptions defaults = FileSystemOptionsUtils.deleteDefaults(configured(path));
        DeletePRequest.Builder request = DeletePRequest.newBuilder().setPath(path);
        request.setOptions(defaults.toBuilder().mergeFrom(options));
        try {
            master.send("delete " + path, getRemoveMethod(), request.build(), Repeat.UNANSWERED_CHANGE);
        } catch (StoreException e) {
            boolean isGone = e.errno() == Errno.ENOENT
                    || (e.errno() == Errno.EIO && e.isOfRepetition() && Existing.orNull(() -> status(path)) == null);
            if (!e.isOfRepetition() || !isGone) {
                throw e;
            }
        }
    }

    void rename(String from, String to, RenamePOptions options, Repeat repeat) throws StoreException {
        uri(from);
        RenamePOptions defaults = FileSystemOptionsUtils.renameDefaults(configured(to));
        RenamePRequest.Builder request =
                RenamePRequest.newBuilder().setPath(from).setDstPath(to);
        request.setOptions(defaults.toBuilder().mergeFrom(options));
        master.send("rename to " + to + " " + from, getRenameMethod(), request.build(), repeat);
    }

    void setAttribute(String path, SetAttributePOptions options) throws StoreException {
        SetAttributePOptions defaults = FileSystemOptionsUtils.setAttributeClientDefaults(configured(path));
        SetAttributePRequest.Builder request = SetAttributePRequest.newBuilder().setPath(path);
        request.setOptions(defaults.toBuilder().mergeFrom(options));
        master.send("set attributes of " + path, getSetAttributeMethod(), request.build());
    }

    /** By path in Alluxio. */
    Map<String, MountPointInfo> mountTable() throws StoreException {
        GetMountTablePRequest.Builder request =
                GetMountTablePRequest.newBuilder().setCheckUfs(false);
        return master.send("mount table of Alluxio", getGetMountTableMethod(), request.build())
                .getMountPointsMap();
    }
}
