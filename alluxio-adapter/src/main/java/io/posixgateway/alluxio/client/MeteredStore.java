package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.FileDetails;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.LoadState;
import io.posixgateway.alluxio.store.RpcMetrics;
import io.posixgateway.alluxio.store.RpcMetrics.Method;
import io.posixgateway.alluxio.store.RunningListings;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store whose calls are timed, and each of which may be interrupted through {@link RemoteCalls}: it then fails with
 * ETIMEDOUT.
 */
final class MeteredStore implements Store {
    private static final Logger LOG = LoggerFactory.getLogger(MeteredStore.class);
    /** Calls that a worker may answer while the master is away. */
    private static final Set<Method> READING = Set.of(Method.OPEN, Method.READ, Method.READ_ONCE);

    private static final Set<Method> CHANGING = Set.of(
            Method.CREATE,
            Method.MAKE_DIRECTORY,
            Method.DELETE,
            Method.RENAME,
            Method.CHANGE,
            Method.WRITE,
            Method.COMPLETE);

    /** Failures that nobody in Alluxio need have told. */
    private static final Set<Integer> UNANSWERED = Set.of(Errno.EIO, Errno.ETIMEDOUT, Errno.EINTR);

    private final Store store;
    private final Clock clock;
    private final RpcMetrics metrics = new RpcMetrics();
    private final RunningListings listings;
    private final RunningListings copies;
    private final ClusterWatch watch;
    private final ShutdownLimit shutdown;

    MeteredStore(Store store, Clock clock) {
        this.store = store;
        this.clock = clock;
        this.listings = new RunningListings(clock);
        this.copies = new RunningListings(clock);
        this.shutdown = new ShutdownLimit(clock);
        this.watch = new ClusterWatch(() -> measured(Method.CLUSTER_ID, store::clusterId), clock);
        store.onMasterAbsent(watch::absent);
    }

    private interface Call<T> {
        T run() throws StoreException;
    }

    private <T> T timed(Method method, Call<T> call) throws StoreException {
        if (method == Method.WRITE) {
            return measured(method, call);
        }
        if (READING.contains(method)) {
            return measured(method, () -> {
                watch.beforeRead();
                return call.run();
            });
        }
        watch.before();
        long beganNanos = clock.nanos();
        try {
            T result = measured(method, call);
            watch.answered(beganNanos);
            return result;
        } catch (StoreException e) {
            watch.failed(e);
            throw e;
        }
    }

    private <T> T measured(Method method, Call<T> call) throws StoreException {
        Timing timing = new Timing(method);
        try {
            T result = call.run();
            timing.end(0);
            return result;
        } catch (StoreException e) {
            throw timing.end(e.errno())
                    ? new StoreException(Errno.ETIMEDOUT, "Alluxio took too long: " + e.getMessage(), e)
                    : e;
        } catch (RuntimeException | Error e) {
            timing.end(Errno.EIO);
            throw e;
        }
    }

    /** A call under way. On the thread that makes it. */
    private final class Timing {
        private final Method method;
        private final RemoteCalls remote = RemoteCalls.ofThread();
        private final long beganNanos = clock.nanos();

        Timing(Method method) throws StoreException {
            this.method = method;
            shutdown.began(remote);
            metrics.began();
            remote.begin();
        }

        /** Once. Was the call interrupted? */
        boolean end(int errno) {
            boolean interrupted = remote.end();
            int told = interrupted && errno != 0 ? Errno.ETIMEDOUT : errno;
            metrics.ended(method, clock.nanos() - beganNanos, told);
            shutdown.ended(remote, !UNANSWERED.contains(told), told == 0 && CHANGING.contains(method));
            return interrupted;
        }
    }

    /** Can be interrupted as any call, but is not counted: mostly nobody is asked. */
    private <T> T unmeasured(Call<T> call) throws StoreException {
        RemoteCalls remote = RemoteCalls.ofThread();
        shutdown.began(remote);
        remote.begin();
        try {
            return call.run();
        } finally {
            remote.end();
            shutdown.ended(remote, false, false);
        }
    }

    private interface Work {
        void run() throws StoreException;
    }

    private void done(Method method, Work work) throws StoreException {
        timed(method, () -> {
            work.run();
            return method;
        });
    }

    @Override
    public RpcMetrics metrics() {
        return metrics;
    }

    @Override
    public boolean persists() {
        return store.persists();
    }

    @Override
    public String cluster() {
        return store.cluster();
    }

    @Override
    public String clusterId() throws StoreException {
        String clusterId = measured(Method.CLUSTER_ID, store::clusterId);
        watch.told(clusterId);
        return clusterId;
    }

    @Override
    public void watchCluster(String clusterId, Consumer<String> listener) {
        watch.watch(clusterId, listener);
    }

    @Override
    public boolean mayReadBlocks() {
        return watch.mayRead();
    }

    @Override
    public void awaitMayReadBlocks() throws StoreException {
        measured(Method.CLUSTER_ID, () -> {
            watch.beforeOpen();
            return watch;
        });
    }

    @Override
    public long silentNanos(long trustNanos, boolean mayWait) throws StoreException {
        return watch.silentNanos(trustNanos, mayWait);
    }

    @Override
    public FileStatus status(String path) throws StoreException {
        return timed(Method.STATUS, () -> store.status(path));
    }

    @Override
    public int longestPath(String directory) throws StoreException {
        return timed(Method.STATUS, () -> store.longestPath(directory));
    }

    @Override
    public String pathOf(long fileId) throws StoreException {
        return timed(Method.FILE_PATH, () -> store.pathOf(fileId));
    }

    @Override
    public Page list(String path, String startAfter, int most) throws StoreException {
        return timed(Method.LIST, () -> unlimited(listings, path, () -> store.list(path, startAfter, most)));
    }

    @Override
    public Page listCompared(String path, int most) throws StoreException {
        return timed(Method.LIST, () -> unlimited(listings, path, () -> store.listCompared(path, most)));
    }

    /** Takes as long as the master needs: the connection's own keepalive says whether it lives. */
    private static <T> T unlimited(RunningListings running, String path, Call<T> call) throws StoreException {
        RemoteCalls remote = RemoteCalls.ofThread();
        long number = running.begin(path);
        remote.beginUnlimited();
        try {
            return call.run();
        } finally {
            remote.endUnlimited();
            running.end(number);
        }
    }

    @Override
    public List<RunningListings.Listing> listings(long atLeastNanos) {
        return listings.all(atLeastNanos);
    }

    @Override
    public List<RunningListings.Listing> copies(long atLeastNanos) {
        return copies.all(atLeastNanos);
    }

    @Override
    public FileStatus compared(String path) throws StoreException {
        return timed(Method.STATUS, () -> store.compared(path));
    }

    @Override
    public StoreWriter create(String path, int mode, Map<String, byte[]> xattrs, UUID number) throws StoreException {
        return new MeteredSink(timed(Method.CREATE, () -> store.create(path, mode, xattrs, number)));
    }

    @Override
    public @Nullable StoreWriter overwrite(String path, long fileId) throws StoreException {
        return timed(Method.CREATE, () -> Optional.ofNullable(store.overwrite(path, fileId)))
                .map(MeteredSink::new)
                .orElse(null);
    }

    @Override
    public void makeDirectory(String path, int mode, Map<String, byte[]> xattrs) throws StoreException {
        done(Method.MAKE_DIRECTORY, () -> store.makeDirectory(path, mode, xattrs));
    }

    @Override
    public void connect() throws StoreException {
        unmeasured(() -> {
            store.connect();
            return store;
        });
    }

    @Override
    public void delete(String path) throws StoreException {
        done(Method.DELETE, () -> store.delete(path));
    }

    @Override
    public void forget(String path) throws StoreException {
        done(Method.DELETE, () -> store.forget(path));
    }

    @Override
    public void rename(String from, String to, boolean overFile) throws StoreException {
        done(Method.RENAME, () -> {
            if (store.copiesOnRename(to)) {
                unlimited(copies, to, () -> {
                    store.rename(from, to, overFile);
                    return to;
                });
            } else {
                store.rename(from, to, overFile);
            }
        });
    }

    @Override
    public boolean copiesOnRename(String path) throws StoreException {
        return unmeasured(() -> store.copiesOnRename(path));
    }

    @Override
    public boolean deletesToReplace(String path) throws StoreException {
        return unmeasured(() -> store.deletesToReplace(path));
    }

    @Override
    public boolean crossesMounts(String from, String to) throws StoreException {
        return unmeasured(() -> store.crossesMounts(from, to));
    }

    @Override
    public void change(String path, Change change) throws StoreException {
        done(Method.CHANGE, () -> store.change(path, change));
    }

    @Override
    public void removeXattr(String path, String name) throws StoreException {
        done(Method.CHANGE, () -> store.removeXattr(path, name));
    }

    @Override
    public StoreReader open(String path, long fileId) throws StoreException {
        return new MeteredSource(timed(Method.OPEN, () -> store.open(path, fileId)));
    }

    @Override
    public StoreReader openToKeep(String path, long fileId) throws StoreException {
        return new MeteredSource(timed(Method.OPEN, () -> store.openToKeep(path, fileId)));
    }

    @Override
    public @Nullable Path localBlockFolder(String path) throws StoreException {
        return timed(Method.LOCAL_BLOCKS, () -> Optional.ofNullable(store.localBlockFolder(path)))
                .orElse(null);
    }

    @Override
    public @Nullable Path localBlockFolder(long blockId) throws StoreException {
        return unmeasured(() -> Optional.ofNullable(store.localBlockFolder(blockId)))
                .orElse(null);
    }

    @Override
    public int use(List<Long> blocks) throws StoreException {
        return unmeasured(() -> store.use(blocks));
    }

    @Override
    public Capacity capacity() throws StoreException {
        return timed(Method.CAPACITY, store::capacity);
    }

    @Override
    public FileDetails details(String path) throws StoreException {
        return timed(Method.STATUS, () -> store.details(path));
    }

    @Override
    public boolean load(String path) throws StoreException {
        return timed(Method.LOAD, () -> store.load(path));
    }

    @Override
    public LoadState loadState(String path) throws StoreException {
        return timed(Method.LOAD, () -> store.loadState(path));
    }

    @Override
    public void stopLoad(String path) throws StoreException {
        done(Method.LOAD, () -> store.stopLoad(path));
    }

    @Override
    public long ufsBytes() {
        return store.ufsBytes();
    }

    @Override
    public int mostCalls() {
        return store.mostCalls();
    }

    @Override
    public Map<String, String> settings() {
        return store.settings();
    }

    @Override
    public List<String> advice() throws StoreException {
        return store.advice();
    }

    @Override
    public String user() {
        return store.user();
    }

    @Override
    public void shuttingDown() {
        shutdown.begin();
    }

    @Override
    public void close() {
        shutdown.close();
        store.close();
    }

    /** What is read. */
    private final class MeteredSource implements StoreReader {
        private final StoreReader source;

        MeteredSource(StoreReader source) {
            this.source = source;
        }

        @Override
        public int read(long offset, ByteBuffer into) throws StoreException {
            return timed(Method.READ, () -> source.read(offset, into));
        }

        @Override
        public int readOnce(long offset, ByteBuffer into) throws StoreException {
            return timed(Method.READ_ONCE, () -> source.readOnce(offset, into));
        }

        @Override
        public long rangeAvailable(long offset) {
            return source.rangeAvailable(offset);
        }

        @Override
        public int readRange(long offset, ScatterTarget rooms) throws StoreException {
            return timed(Method.READ_ONCE, () -> source.readRange(offset, rooms));
        }

        @Override
        public void close() {
            source.close();
        }
    }

    /** What is written. */
    private final class MeteredSink implements StoreWriter {
        private final StoreWriter sink;

        MeteredSink(StoreWriter sink) {
            this.sink = sink;
        }

        @Override
        public long fileId() {
            return sink.fileId();
        }

        @Override
        public long madeMillis() {
            return sink.madeMillis();
        }

        @Override
        public long blockBytes() {
            return sink.blockBytes();
        }

        @Override
        public boolean isAt(String path) {
            return sink.isAt(path);
        }

        @Override
        public void expect(long lengthBytes) {
            sink.expect(lengthBytes);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws StoreException {
            done(Method.WRITE, () -> sink.write(bytes, from, count));
        }

        @Override
        public void complete() throws StoreException {
            RemoteCalls remote = RemoteCalls.ofThread();
            remote.beginUnlimited(); // as long as the worker stores the file, which is asked meanwhile whether it lives
            try {
                done(Method.COMPLETE, sink::complete);
            } finally {
                remote.endUnlimited();
            }
        }

        @Override
        public boolean isQuiescent() {
            return sink.isQuiescent();
        }

        /** Where the volume has given up on Alluxio, the stream ends with the client. */
        @Override
        public void cancel() {
            try {
                unmeasured(() -> {
                    sink.cancel();
                    return sink;
                });
            } catch (StoreException e) {
                LOG.debug("A stream stays open until the client ends: {}", e.getMessage());
            }
        }
    }
}
