package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.cache.Metadata;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Facts;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.recovery.DraftRecord;
import io.posixgateway.fuse.spi.Errno;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Content that was published where {@link LateWrites} may undo it: it stays in the spool, and is published once more when that
 * can no longer happen, unless the file has another content by then. Any thread; has one of its own while there is some.
 */
final class Doubtful implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Doubtful.class);
    private static final long LOOK_MILLIS = 1000;

    private final Drafts drafts;
    private final Metadata metadata;
    private final LateWrites late;
    private final Queue<Kept> all = new ConcurrentLinkedQueue<>();
    // Guarded by this.
    private @Nullable Thread thread;
    private boolean closed;

    /**
     * One of them.
     *
     * @param draft has ended, but for its spool
     * @param fileId of what was published
     */
    private record Kept(Draft draft, String path, long fileId) {}

    Doubtful(Drafts drafts, Metadata metadata, LateWrites late) {
        this.drafts = drafts;
        this.metadata = metadata;
        this.late = late;
    }

    /** Takes over the spool of a draft that was published at this path; false: it is not to be kept. */
    synchronized boolean keep(Draft draft, String path) {
        if (closed) {
            return false;
        }
        LOG.info("{} stays in {} until a worker that was sent it, and stopped, has answered", path, draft.spool.file());
        all.add(new Kept(draft, path, draft.facts.raw().id()));
        if (thread == null) {
            Thread started = new Thread(this::look, "published-in-doubt");
            started.setDaemon(true);
            started.start();
            thread = started;
        }
        return true;
    }

    private void look() {
        while (isAny()) {
            all.removeIf(kept -> !late.concern(kept.path) && isDone(kept));
            try {
                Thread.sleep(LOOK_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private synchronized boolean isAny() {
        boolean any = !closed && !all.isEmpty();
        if (!any) {
            thread = null;
        }
        return any;
    }

    private boolean isDone(Kept kept) {
        try {
            Inode inode = metadata.ofFile(kept.draft.inode, kept.fileId);
            if (inode != null && drafts.has(inode)) {
                return false;
            }
            Facts facts = inode == null ? null : metadata.refresh(inode);
            if (inode == null || facts == null || facts.raw().id() != kept.fileId || inode.unlinked()) {
                kept.draft.spool.close(false);
                return true;
            }
            return drafts.publishAgain(
                    new Draft(inode, kept.draft.spool, DraftRecord.unstored(kept.draft.record.content()), facts));
        } catch (StoreException e) {
            boolean gone = e.errno() == Errno.ENOENT || e.errno() == Errno.ESTALE;
            if (gone) {
                kept.draft.spool.close(false);
            }
            return gone;
        }
    }

    /** What is still in doubt stays as it was published. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            Thread looking = thread;
            if (looking != null) {
                looking.interrupt();
            }
        }
        for (Kept kept : all) {
            LOG.warn("A worker that stopped has not answered: {} may miss in the under file system", kept.path);
            kept.draft.spool.close(false);
        }
    }
}
