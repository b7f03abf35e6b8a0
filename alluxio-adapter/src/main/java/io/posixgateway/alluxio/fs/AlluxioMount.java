package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.client.AlluxioStore;
import io.posixgateway.alluxio.journal.VolumeStateDir;
import io.posixgateway.alluxio.meta.CacheBudget;
import io.posixgateway.alluxio.nodecache.CacheFolders;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
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
        return open(alluxio, options, Clock.system());
    }

    /** The same with another clock. */
    public static AlluxioFileSystem open(AlluxioOptions alluxio, AdapterOptions options, Clock clock)
            throws StoreException {
        return open(alluxio, options, Shared.ofOne(clock));
    }

    /** The same beside other volumes of this process. */
    public static AlluxioFileSystem open(AlluxioOptions alluxio, AdapterOptions options, Shared shared)
            throws StoreException {
        return open(connect(alluxio, options, shared.clock()), alluxio, options, null, false, shared);
    }

    /** The same over a store that is connected already, the file system's from here on, and with another clock. */
    public static AlluxioFileSystem open(Store store, String path, AdapterOptions options, Clock clock)
            throws StoreException {
        return open(store, path, options, Shared.ofOne(clock));
    }

    /** The same beside other volumes of this process. */
    public static AlluxioFileSystem open(Store store, String path, AdapterOptions options, Shared shared)
            throws StoreException {
        return open(store, new AlluxioOptions("", path, "", Map.of()), options, null, false, shared);
    }

    /**
     * What the volumes of a process have in common.
     *
     * @param cache memory of what they know of files
     * @param dataCaches folders of data caches
     */
    public record Shared(Clock clock, CacheBudget cache, CacheFolders dataCaches) {
        /** This part of the heap may hold cached metadata: the rest is for requests, Alluxio's client and the collector. */
        private static final int HEAP_PART = 2;

        /** Of a process; or of a volume that shares with none. */
        public static Shared ofOne(Clock clock) {
            ThreadPoolExecutor balancer = new ThreadPoolExecutor(
                    1,
                    1,
                    10,
                    TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(),
                    work -> new UnpinnedThread(work, "cache-budget"));
            balancer.allowCoreThreadTimeOut(true);
            CacheBudget budget = new CacheBudget(Runtime.getRuntime().maxMemory() / HEAP_PART, balancer);
            return new Shared(clock, budget, new CacheFolders(clock));
        }
    }

    /**
     * The same for a session that outlives its process: {@link AlluxioFileSystem#resume} is to be called before it is served.
     *
     * @param options whose spool folder is the volume's own
     * @param how what is there already
     * @throws StoreException as above; EBUSY: another process serves the volume
     */
    public static AlluxioFileSystem openPersistent(AlluxioOptions alluxio, AdapterOptions options, Opening how)
            throws StoreException {
        return openPersistent(alluxio, options, how, Clock.system());
    }

    /** The same with another clock. */
    public static AlluxioFileSystem openPersistent(
            AlluxioOptions alluxio, AdapterOptions options, Opening how, Clock clock) throws StoreException {
        return openPersistent(alluxio, options, how, Shared.ofOne(clock));
    }

    /** The same beside other volumes of this process. */
    public static AlluxioFileSystem openPersistent(
            AlluxioOptions alluxio, AdapterOptions options, Opening how, Shared shared) throws StoreException {
        Store client = how.client();
        VolumeStateDir folder = folder(options, client);
        try {
            Store store = client == null ? connect(alluxio, options, shared.clock()) : client;
            return open(store, alluxio, options, folder, how.goesOn(), shared);
        } catch (StoreException | RuntimeException | Error e) {
            folder.close(); // its lock would keep the next try out
            throw e;
        }
    }

    private static VolumeStateDir folder(AdapterOptions options, @Nullable Store client) throws StoreException {
        try {
            return VolumeStateDir.open(options.spoolFolder());
        } catch (StoreException e) {
            if (client != null) {
                client.close();
            }
            throw e;
        }
    }

    /**
     * How a kept volume is opened.
     *
     * @param client connected already, the volume's from here on; null: none
     * @param goesOn it was served before: its root was there, and Alluxio, which may be away, is not asked for it
     */
    public record Opening(@Nullable Store client, boolean goesOn) {}

    private static AlluxioFileSystem open(
            Store store,
            AlluxioOptions alluxio,
            AdapterOptions options,
            @Nullable VolumeStateDir kept,
            boolean goesOn,
            Shared shared)
            throws StoreException {
        String path = options.names().storedPath(alluxio.path());
        try {
            OptionalLong known = kept != null && goesOn ? kept.rootId() : OptionalLong.empty();
            long rootId = known.isPresent() ? known.getAsLong() : askForRoot(store, path);
            if (kept != null && known.isEmpty()) {
                kept.rootIs(rootId);
            }
            VolumeContext.Place place =
                    new VolumeContext.Place(store, path, rootId, options.openCache(shared.dataCaches(), goesOn));
            return open(place, alluxio, options, kept, shared);
        } catch (StoreException e) {
            store.close();
            throw explained(alluxio, e);
        } catch (RuntimeException | Error e) {
            store.close(); // its threads and connections would stay, and a takeover is retried
            throw e;
        }
    }

    private static AlluxioFileSystem open(
            VolumeContext.Place place,
            AlluxioOptions alluxio,
            AdapterOptions options,
            @Nullable VolumeStateDir kept,
            Shared shared) {
        try {
            return new AlluxioFileSystem(
                    new VolumeContext(place, options, shared, kept), alluxio.path(), shared.clock());
        } catch (RuntimeException | Error e) {
            CacheFolders.Shared cache = place.cache();
            if (cache != null) {
                cache.close(); // its lock would keep the next try out
            }
            throw e;
        }
    }

    private static long askForRoot(Store store, String path) throws StoreException {
        FileStatus root = store.status(path);
        if (!root.directory()) {
            throw new StoreException(Errno.ENOTDIR, path + " is a file in Alluxio; give a directory", null);
        }
        return root.id();
    }

    /** The client alone, for work that needs no mount. */
    public static Store connect(AlluxioOptions alluxio, AdapterOptions options) throws StoreException {
        return connect(alluxio, options, Clock.system());
    }

    /** The same with another clock. */
    public static Store connect(AlluxioOptions alluxio, AdapterOptions options, Clock clock) throws StoreException {
        return AlluxioStore.open(
                new StoreOptions(
                        alluxio.masters(),
                        alluxio.user(),
                        options.writeType(),
                        options.shortCircuit(),
                        alluxio.properties()),
                clock);
    }

    private static StoreException explained(AlluxioOptions alluxio, StoreException failure) {
        if (failure.isOfThisNode()) {
            return failure;
        }
        String where = alluxio.masters().isEmpty() ? "of alluxio-site.properties" : alluxio.masters();
        String text =
                switch (failure.errno()) {
                    case Errno.ENOENT ->
                        "Alluxio has no path " + alluxio.path()
                                + "; create it first, or give another path ('alluxio fs ls /' lists those that exist)";
                    case Errno.EACCES ->
                        failure.isLoginRefused()
                                ? failure.getMessage()
                                : "Alluxio refuses " + alluxio.path() + " to user '" + alluxio.user()
                                        + "'; grant access there (alluxio fs chmod or chown), or give another --user: "
                                        + failure.getMessage();
                    case Errno.EIO ->
                        "Alluxio's master " + where + " does not answer; check that it is running and that the"
                                + " address is right: "
                                + failure.getMessage();
                    default -> failure.getMessage();
                };
        return new StoreException(failure.errno(), String.valueOf(text), failure);
    }
}
