package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.control.proto.Cluster;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Work on folders anywhere in an Alluxio, for the CSI controller. Any thread; opens the file system for each call. */
public final class Directories {
    private static final int DEFAULT_MODE = 0755;

    private final FileSystemFactory source;
    private final FoldersInUse inUse;

    public Directories(FileSystemFactory source) {
        this.source = source;
        this.inUse = new FoldersInUse(source.clock());
    }

    /** An entry of a folder. */
    public record Entry(String name, boolean directory) {}

    /**
     * Makes a folder and those above; was anything changed?
     *
     * @param mode permission bits; 0: 0755
     * @param volume with which the folder goes; empty: with none
     */
    public boolean make(Cluster cluster, String path, int mode, String volume) throws ServiceException {
        int bits = mode == 0 ? DEFAULT_MODE : mode & 07777;
        return with(cluster, (tree, store) -> new VolumeFolders(tree, store, inUse).make(path, bits, volume));
    }

    /**
     * Removes a folder; false: it was gone.
     *
     * @param volume whose folder alone it may be; empty: anybody's
     */
    public boolean remove(Cluster cluster, String path, boolean recursive, String volume) throws ServiceException {
        return with(cluster, (tree, store) -> new VolumeFolders(tree, store, inUse).remove(path, recursive, volume));
    }

    /**
     * Renames a folder; false: done before.
     *
     * @param volume whose folder alone it may be; empty: anybody's
     */
    public boolean rename(Cluster cluster, String path, String newPath, String volume) throws ServiceException {
        return with(cluster, (tree, store) -> new VolumeFolders(tree, store, inUse).rename(path, newPath, volume));
    }

    public List<Entry> list(Cluster cluster, String path) throws ServiceException {
        return with(cluster, (tree, store) -> {
            List<Entry> entries = new ArrayList<>();
            for (FileTree.Child child : tree.list(path)) {
                entries.add(new Entry(NameCodec.ESCAPED.stored(child.name()), child.directory()));
            }
            return entries;
        });
    }

    private interface Work<T> {
        T on(FileTree tree, Store store) throws IOException;
    }

    private <T> T with(Cluster cluster, Work<T> work) throws ServiceException {
        FileSystemFactory.checkProperties(cluster.getPropertiesMap());
        AlluxioOptions root =
                new AlluxioOptions(cluster.getMasters(), "/", cluster.getUser(), cluster.getPropertiesMap());
        AlluxioFileSystem files = source.open(root, source.options(Map.of()));
        try {
            return work.on(new FileTree(files, NameCodec.ESCAPED), files.store());
        } catch (IOException e) {
            throw failure(e);
        } finally {
            files.close();
        }
    }

    /** What a failure of work on a path means to a caller of the service. */
    static ServiceException failure(IOException e) {
        Kind kind = e instanceof TreeException tree ? FileSystemFactory.kindOf(tree.errno()) : Kind.UNAVAILABLE;
        return new ServiceException(kind, String.valueOf(e.getMessage()), e);
    }
}
