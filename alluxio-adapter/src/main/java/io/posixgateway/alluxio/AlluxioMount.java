package io.posixgateway.alluxio;

import io.posixgateway.alluxio.client.AlluxioStore;
import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.client.StoreOptions;
import io.posixgateway.alluxio.recovery.VolumeFolder;
import io.posixgateway.fuse.spi.Errno;
import org.jspecify.annotations.Nullable;

/** Opens paths of Alluxio as file systems. */
public final class AlluxioMount {
    private AlluxioMount() {}

    /**
     * Connects to Alluxio and checks that the path is there. Waits for seconds when Alluxio does not answer.
     *
     * @throws StoreException with a sentence for the user; the errno tells EIO (no answer), ENOENT and ENOTDIR (the path),
     *     EACCES (refused), EINVAL (properties)
     */
    public static AlluxioFileSystem open(AlluxioOptions alluxio, AdapterOptions options) throws StoreException {
        return open(alluxio, options, null);
    }

    /**
     * The same for a session that outlives its process: {@link AlluxioFileSystem#resume} is to be called before it is served.
     *
     * @param options whose spool folder is the volume's own
     * @throws StoreException as above; EBUSY: another process serves the volume
     */
    public static AlluxioFileSystem openKept(AlluxioOptions alluxio, AdapterOptions options) throws StoreException {
        VolumeFolder folder = VolumeFolder.open(options.spoolFolder());
        try {
            return open(alluxio, options, folder);
        } catch (StoreException e) {
            folder.close();
            throw e;
        }
    }

    private static AlluxioFileSystem open(AlluxioOptions alluxio, AdapterOptions options, @Nullable VolumeFolder kept)
            throws StoreException {
        Store store = connect(alluxio, options);
        try {
            FileStatus root = store.status(alluxio.path());
            if (!root.directory()) {
                throw new StoreException(
                        Errno.ENOTDIR, alluxio.path() + " in Alluxio is a file; give a directory", null);
            }
            Volume.Place place = new Volume.Place(store, alluxio.path(), root);
            Volume volume = new Volume(place, options, System::nanoTime, kept);
            return new AlluxioFileSystem(volume, alluxio.path(), System::nanoTime);
        } catch (StoreException e) {
            store.close();
            throw explained(alluxio, e);
        }
    }

    /** The client alone, for work that needs no mount. */
    public static Store connect(AlluxioOptions alluxio, AdapterOptions options) throws StoreException {
        return AlluxioStore.open(new StoreOptions(
                alluxio.masters(), alluxio.user(), options.writeType(), options.shortCircuit(), alluxio.properties()));
    }

    private static StoreException explained(AlluxioOptions alluxio, StoreException failure) {
        String where = alluxio.masters().isEmpty() ? "of alluxio-site.properties" : alluxio.masters();
        String text =
                switch (failure.errno()) {
                    case Errno.ENOENT ->
                        "Alluxio has no path " + alluxio.path()
                                + "; make it first, or give another (alluxio fs ls / shows what is there)";
                    case Errno.EACCES ->
                        "Alluxio refuses " + alluxio.path() + " to user '" + alluxio.user() + "'; "
                                + failure.getMessage();
                    case Errno.EIO ->
                        "Alluxio's master " + where + " does not answer; is it running, and is the address right? "
                                + failure.getMessage();
                    default -> failure.getMessage();
                };
        return new StoreException(failure.errno(), String.valueOf(text), failure);
    }
}
