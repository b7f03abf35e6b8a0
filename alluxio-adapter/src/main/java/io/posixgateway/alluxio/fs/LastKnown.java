package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.KernelInvalidator;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.meta.PathPolicies;
import io.posixgateway.alluxio.read.FileReaders;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Request;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What Alluxio said last, which is believed while no master answers: of directories, and of files whose content is in the data cache. That
 * content is of the version that was known, and its key has the cluster's id, so it stays true of that version also where Alluxio was
 * formatted meanwhile. Once a master answers, it is asked as ever. Any thread.
 */
final class LastKnown {
    /** So long at most a silence is believed without asking anew, however long what is known is trusted. */
    static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Store store;
    private final Metadata metadata;
    private final KernelInvalidator invalidator;
    private final FileReaders readers;
    private final PathPolicies cachePolicy;
    private final long limitNanos;
    private final AtomicLong opens = new AtomicLong();

    /** @param limitNanos how long it is believed after the last response; 0: not at all */
    LastKnown(
            Store store,
            Metadata metadata,
            KernelInvalidator invalidator,
            FileReaders readers,
            PathPolicies cachePolicy,
            long limitNanos) {
        this.store = store;
        this.metadata = metadata;
        this.invalidator = invalidator;
        this.readers = readers;
        this.cachePolicy = cachePolicy;
        this.limitNanos = readers.cache() == null ? 0 : limitNanos;
    }

    /** Asks Alluxio. */
    interface Question {
        Attr ask() throws StoreException;
    }

    /** What Alluxio says now, or said last where no master answers; null: that may wait. */
    @Nullable
    Attr attr(Request request, Inode inode) throws StoreException {
        return attr(request, inode, cachePolicy.of(inode).ttlNanos(), () -> lastSeen(request, inode));
    }

    /** The same for an open that reads. */
    @Nullable
    Attr attrAtOpen(Request request, Inode inode, Question question) throws StoreException {
        boolean[] asked = {false};
        Attr attr = attr(request, inode, cachePolicy.of(inode).openNanos(), () -> {
            Attr now = question.ask();
            asked[0] = true;
            return now;
        });
        if (attr != null && !asked[0]) {
            opens.incrementAndGet();
        }
        return attr;
    }

    private @Nullable Attr attr(Request request, Inode inode, long trustNanos, Question question)
            throws StoreException {
        Attr last = last(request, inode, trustNanos);
        if (last != null || !request.mayWait()) {
            return last;
        }
        try {
            return question.ask();
        } catch (StoreException e) {
            last = e.isOutcomeUnknown() ? last(request, inode, trustNanos) : null;
            if (last == null) {
                throw e;
            }
            return last;
        }
    }

    /** What Alluxio says now; of a file that is gone but open, what it said last. */
    private Attr lastSeen(Request request, Inode inode) throws StoreException {
        Attr before = inode.attr();
        try {
            return invalidator.requested(request.pid(), inode, metadata.refresh(inode));
        } catch (StoreException e) {
            if (e.errno() == Errno.ESTALE && before != null && inode.handles() > 0) {
                return before;
            }
            throw e;
        }
    }

    /** Does no master answer, and is what is known of the inode, and of its name, believed? Where waiting is allowed, asks for a moment. */
    boolean counts(Request request, Inode inode) throws StoreException {
        return last(request, inode, cachePolicy.of(inode).ttlNanos()) != null;
    }

    /** Null: a master answers, or may, or what is known does not count. */
    private @Nullable Attr last(Request request, Inode inode, long trustNanos) throws StoreException {
        Attr attr = inode.attr();
        if (limitNanos == 0 || attr == null || attr.fileId() != inode.fileId() || inode.isUnsure(cachePolicy.clock())) {
            return null;
        }
        long silentNanos = store.silentNanos(Math.min(trustNanos, SILENCE_NANOS), request.mayWait());
        boolean counts = silentNanos > 0 && silentNanos < limitNanos && isReadable(inode, attr);
        return counts ? attr : null;
    }

    private boolean isReadable(Inode inode, Attr attr) {
        return inode.isDirectory()
                || (attr.complete() && (attr.lengthBytes() == 0 || readers.isCached(FileOperations.extent(attr))));
    }

    /** Opens that believed it. */
    long opens() {
        return opens.get();
    }
}
