package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Reads the next part of a listing while the part at hand is shown, for two listings at a time; all others read theirs when it
 * is needed. Any thread.
 */
public final class ReaddirPrefetch implements AutoCloseable {
    private static final int MAX = 2;

    private final Metadata metadata;
    private final PathPolicies cachePolicy;
    private final ThreadPoolExecutor readers;

    public ReaddirPrefetch(Metadata metadata, PathPolicies cachePolicy) {
        this.metadata = metadata;
        this.cachePolicy = cachePolicy;
        readers = new ThreadPoolExecutor(
                0,
                MAX,
                10,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                task -> new UnpinnedThread(task, "listing-ahead"),
                new ThreadPoolExecutor.DiscardPolicy());
    }

    /** A part of a listing that will be asked for. */
    public static final class Part {
        private final Inode directory;
        private final String startAfter;
        private final long askedNanos;
        private final FutureTask<Listings.Listed> reading;

        private Part(Inode directory, String startAfter, long askedNanos, FutureTask<Listings.Listed> reading) {
            this.directory = directory;
            this.startAfter = startAfter;
            this.askedNanos = askedNanos;
            this.reading = reading;
        }
    }

    /** Begins to read the part behind this name. Never waits. */
    public Part begin(Inode directory, String startAfter) {
        FutureTask<Listings.Listed> reading =
                new FutureTask<>(() -> metadata.listings().list(directory, startAfter));
        readers.execute(reading);
        return new Part(directory, startAfter, cachePolicy.nowNanos(), reading);
    }

    /** Is this the part behind that name, and young enough to be shown? */
    public boolean fits(Part part, String startAfter) {
        return part.startAfter.equals(startAfter)
                && cachePolicy.of(part.directory).fresh(part.askedNanos);
    }

    /** The part, read by the caller if nobody has begun. Waits. */
    public Listings.Listed take(Part part) throws StoreException {
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.begin();
        remote.beginUnlimited();
        try {
            part.reading.run();
            return part.reading.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StoreException failure) {
                throw failure;
            }
            throw new StoreException(Errno.EIO, "Listing ahead: " + e.getCause(), e);
        } catch (InterruptedException e) {
            throw new StoreException(Errno.ETIMEDOUT, "Alluxio took too long to list a directory", e);
        } finally {
            remote.endUnlimited();
            remote.end();
        }
    }

    @Override
    public void close() {
        readers.shutdownNow();
    }
}
