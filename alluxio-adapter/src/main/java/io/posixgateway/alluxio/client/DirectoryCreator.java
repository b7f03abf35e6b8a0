package io.posixgateway.alluxio.client;

import alluxio.client.file.URIStatus;
import alluxio.grpc.CreateDirectoryPOptions;
import alluxio.grpc.ListStatusPartialPOptions;
import alluxio.grpc.SetAttributePOptions;
import alluxio.proto.journal.File.XAttrUpdateStrategy;
import alluxio.shaded.client.com.google.protobuf.ByteString;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.util.Arrays;
import java.util.Map;

/**
 * Makes directories, and finds out who made one where the request was sent again. Any thread; waits.
 *
 * <p>In the journal of a master a new directory is two entries, that of its parent's time first, and each has the operation id. So the next
 * leader may take it for done that has the first entry alone; the directory is missing then, or the under file system has it, from which
 * it is loaded without attributes. And a leader that has neither refuses what the under file system has. A directory that has other
 * attributes was made by another client: with ours the journal has the operation id, too.
 */
final class DirectoryCreator {
    private final FileSystemMaster files;

    DirectoryCreator(FileSystemMaster files) {
        this.files = files;
    }

    /** @throws StoreException EEXIST: another client made what is there, as far as can be told */
    void make(String path, CreateDirectoryPOptions options) throws StoreException {
        try {
            files.makeDirectory(path, options);
        } catch (StoreException e) {
            boolean isTaken = e.errno() == Errno.EEXIST;
            boolean countsAsDone = e.errno() == Errno.EIO;
            if (!e.isOfRepetition() || !(isTaken || countsAsDone)) {
                throw e;
            }
            URIStatus there = Existing.orNull(() -> files.status(path));
            if (there == null && countsAsDone) {
                files.makeDirectory(path, options); // with an operation id of its own
            } else if (there == null || !isOurs(there, options, countsAsDone)) {
                throw isTaken
                        ? e
                        : new StoreException(Errno.EEXIST, path + " was made by another client", e.getCause());
            }
        }
    }

    private boolean isOurs(URIStatus there, CreateDirectoryPOptions options, boolean countsAsDone)
            throws StoreException {
        if (!there.isFolder()) {
            return false;
        }
        Map<String, byte[]> xattrs = there.getXAttr();
        if (xattrs == null || xattrs.isEmpty()) {
            return options.getXattrCount() == 0 ? countsAsDone : isAdopted(there.getPath(), options);
        }
        return countsAsDone && isSame(xattrs, options.getXattrMap());
    }

    private static boolean isSame(Map<String, byte[]> there, Map<String, ByteString> made) {
        return there.keySet().equals(made.keySet())
                && made.entrySet().stream()
                        .allMatch(entry -> Arrays.equals(entry.getValue().toByteArray(), there.get(entry.getKey())));
    }

    /** Of one that was loaded from the under file system: as long as nobody has made a name in it, it gets what it was to have. */
    private boolean isAdopted(String path, CreateDirectoryPOptions options) throws StoreException {
        ListStatusPartialPOptions first =
                ListStatusPartialPOptions.newBuilder().setBatchSize(1).build();
        if (!files.list(path, first).getListings().isEmpty()) {
            return false;
        }
        SetAttributePOptions attributes = SetAttributePOptions.newBuilder()
                .setMode(options.getMode())
                .putAllXattr(options.getXattrMap())
                .setXattrUpdateStrategy(XAttrUpdateStrategy.UNION_REPLACE)
                .build();
        files.setAttribute(path, attributes);
        return true;
    }
}
