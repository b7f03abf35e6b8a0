package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.bypass.BlockSet;
import io.posixgateway.alluxio.bypass.BypassCounts;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.PathInfo;
import io.posixgateway.alluxio.fs.VolumeCounts;
import io.posixgateway.alluxio.store.RunningListings;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.metrics.CallerProcess;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.time.Supervised;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** A volume that is being served. Any thread; closing is the business of {@link Volumes}. */
public final class ServedVolume {
    private final AttachRequest request;
    private final AlluxioFileSystem files;
    private final FuseSession session;
    private final Capacity capacity;
    private final int takeovers;
    private final VolumeWatch watch;
    private final AccessLog accessLog;
    private final BypassCounts bypassCounts = new BypassCounts();
    private volatile long takeoverMillis;

    ServedVolume(Parts parts, Capacity capacity, WatchLimits limits, int takeovers) {
        this.request = parts.request;
        this.files = parts.files;
        this.session = parts.session;
        this.capacity = capacity;
        this.takeovers = takeovers;
        this.watch = new VolumeWatch(request.getVolume(), limits, new Watching(files, session));
        this.accessLog = new AccessLog(session, parts.accessLogFile);
    }

    /**
     * What a volume is made of.
     *
     * @param accessLogFile where its access log goes when that is switched on
     */
    record Parts(AttachRequest request, AlluxioFileSystem files, FuseSession session, Path accessLogFile) {}

    /** Of a mount that this process made. */
    public static ServedVolume mounted(
            AttachRequest request,
            AlluxioFileSystem files,
            FuseSession session,
            WatchLimits limits,
            Path accessLogFile) {
        Parts parts = new Parts(request, files, session, accessLogFile);
        return new ServedVolume(parts, capacity(files, session.metrics().clock()), limits, 0);
    }

    private Clock clock() {
        return session.metrics().clock();
    }

    /** Asked on a thread of its own: Alluxio may not answer, and at most one question is in flight. */
    static Capacity capacity(AlluxioFileSystem files, Clock clock) {
        return new Capacity(
                files, question -> Supervised.start("capacity", "Requesting the capacity", question), clock);
    }

    /** What the watchdog sees of it. */
    private record Watching(AlluxioFileSystem files, FuseSession session) implements VolumeWatch.Watched {
        @Override
        public List<InFlightRequest> inFlight(long atLeastNanos) {
            return session.inFlight(atLeastNanos);
        }

        @Override
        public boolean interrupt(long unique, long atLeastNanos) {
            return session.interruptRemote(unique, atLeastNanos);
        }

        @Override
        public void abort() throws IOException {
            session.kernelConnection().abort();
        }

        @Override
        public List<RunningListings.Listing> listings(long atLeastNanos) {
            return files.store().listings(atLeastNanos);
        }

        @Override
        public List<RunningListings.Listing> copies(long atLeastNanos) {
            return files.store().copies(atLeastNanos);
        }

        @Override
        public CallerProcess.State caller(int pid) {
            return CallerProcess.state(pid);
        }

        @Override
        public String pathOf(long node) {
            return files.pathOf(node);
        }
    }

    /** Who looks after its requests. */
    public VolumeWatch watch() {
        return watch;
    }

    public AccessLog accessLog() {
        return accessLog;
    }

    /** What it was attached with. */
    public AttachRequest request() {
        return request;
    }

    public String name() {
        return request.getVolume();
    }

    public FuseSession session() {
        return session;
    }

    /** Stops serving; changed files that are open stay as they are for the next process. */
    void leaveToNext() {
        files.leaveToNext();
        session.close();
    }

    /** How many processes served it before this one. */
    public int takeovers() {
        return takeovers;
    }

    /** How long after the start of this process, or the end of the one it waited for, it was served; 0: it was not taken over. */
    public long takeoverMillis() {
        return takeoverMillis;
    }

    /** It was taken over, just now, by a process that could begin then. */
    void takenOver(Instant began) {
        takeoverMillis = Duration.between(began, clock().instant()).toMillis();
    }

    /** Where the numbers of its parts are. */
    public VolumeCounts details() {
        return files.details();
    }

    /** The way to Alluxio. */
    public Store store() {
        return files.store();
    }

    /** What the file system holds and has read. */
    public AlluxioFileSystem.Counts counts() {
        return files.counts();
    }

    /** See {@link AlluxioFileSystem#blockSet}. */
    BlockSet blockSet(long node) {
        return files.blockSet(node);
    }

    /** See {@link AlluxioFileSystem#bypassBytes}. */
    long bypassBytes() {
        return files.bypassBytes();
    }

    /** What programs were told that wanted to read without us. */
    public BypassCounts bypassCounts() {
        return bypassCounts;
    }

    /** Forgets what is cached at and below the path; entries forgotten. */
    public long invalidate(String path) {
        return files.invalidate(path);
    }

    /** How full it is, and whether it answers; at once. */
    public VolumeStats stats() {
        VolumeStats known = capacity.now();
        return session.ended()
                ? new VolumeStats(
                        known.capacityBytes(),
                        known.usedBytes(),
                        known.availableBytes(),
                        known.ageMillis(),
                        "the mount has ended; detach the volume and stage it again")
                : known;
    }

    /** What is known of one path, and how an open of it would be read. Waits for Alluxio. */
    public PathInfo inspect(String path) throws ServiceException {
        try {
            FileTree.names(path, files.names());
            return files.inspect(path);
        } catch (TreeException e) {
            throw Directories.failure(e);
        } catch (StoreException e) {
            throw new ServiceException(FileSystemFactory.kindOf(e), String.valueOf(e.getMessage()), e);
        }
    }

    /** Reads metadata of everything at and below the path, and brings the data; as long as that takes. */
    public void warm(String path, Warmup.Data data, Warmup.Progress progress) throws ServiceException {
        warmup(progress).run(path, data);
    }

    /** Counts what of the path is there already. */
    public void checkWarm(String path, Warmup.Data data, Warmup.Progress progress) throws ServiceException {
        warmup(progress).check(path, data);
    }

    /**
     * Has Alluxio compare everything at and below the path with the under file system, as long as that takes and somebody waits; then, or
     * when that ends early, forgets what is cached of it.
     */
    public void sync(String path, Sync.Listener listener) throws ServiceException {
        try {
            FileTree.names(path, files.names());
        } catch (TreeException e) {
            throw Directories.failure(e);
        }
        String stored = files.names().storedPath(path);
        String root = files.names().storedPath(request.getAlluxioPath());
        try {
            new Sync(files.store(), clock()).run(joined(root, stored), listener);
        } finally {
            files.invalidate(stored);
        }
    }

    /** A path below the volume's root, in Alluxio. */
    private static String joined(String root, String path) {
        if (path.equals("/")) {
            return root;
        }
        return root.equals("/") ? path : root + path;
    }

    private Warmup warmup(Warmup.Progress progress) {
        String root = files.names().storedPath(request.getAlluxioPath());
        return new Warmup(
                new FileTree(files, files.names()), files.store(), root, progress, clock(), files::nodeWarmup);
    }
}
