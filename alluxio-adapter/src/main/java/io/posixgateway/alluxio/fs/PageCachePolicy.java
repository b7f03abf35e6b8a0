package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.journal.PageCacheVersions;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import org.jspecify.annotations.Nullable;

/**
 * Whether the kernel may keep the pages of a file that is opened again, be it by the next process. Any thread.
 *
 * <p>An answer to an open that may never reach the kernel proves nothing; so what its pages are of is noted when the handle is
 * used for the first time, and nothing is noted of a file that is being written.
 */
final class PageCachePolicy {
    private final @Nullable PageCacheVersions log;

    /** @param log for the next process; null: there will be none */
    PageCachePolicy(@Nullable PageCacheVersions log) {
        this.log = log;
    }

    /** The file is opened with these attributes. */
    boolean keeps(Inode inode, Attr now) {
        boolean keeps = inode.keepsPages(now);
        if (keeps || log == null) {
            return keeps;
        }
        boolean kept = log.has(inode.node(), now.contentNumber());
        if (!kept) {
            log.forget(inode.node());
        }
        return kept;
    }

    /** Does the next process know that they are of these attributes? True if there is none. */
    boolean isNoted(Inode inode, Attr now) {
        return log == null || log.has(inode.node(), now.contentNumber());
    }

    /** The kernel reads by this handle, and so has done what the answer to its open said. */
    void read(FileHandle open) {
        Attr opened = open.takeFreshPages();
        if (opened == null) {
            return;
        }
        Inode inode = open.inode;
        synchronized (inode) {
            inode.readPages(opened);
            if (log != null && inode.hasPagesOf(opened)) {
                log.note(inode.node(), opened.contentNumber());
            }
        }
    }

    /** The file is about to change: there is a writer more, whom the inode counts already. */
    void changes(Inode inode) {
        if (log != null) {
            synchronized (inode) {
                log.forget(inode.node());
            }
        }
    }
}
