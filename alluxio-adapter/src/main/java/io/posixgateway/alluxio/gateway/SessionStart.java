package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.alluxio.journal.SessionMark;
import io.posixgateway.alluxio.journal.VolumeStateDir;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.session.MountException;
import io.posixgateway.fuse.session.PersistentSession;
import io.posixgateway.fuse.session.SessionNotes;

/** What comes between taking a session and serving it: whether the volume's folder is the session's, and what an earlier process left there. */
final class SessionStart {
    private SessionStart() {}

    /**
     * Makes a file system ready for a session. Waits.
     *
     * @param kept closed when this throws
     * @throws ServiceException the folder is not that of this session, which others have served
     * @throws StoreException Alluxio does not answer
     */
    static void resume(String name, AlluxioFileSystem files, PersistentSession kept)
            throws ServiceException, StoreException, MountException {
        boolean resumed = false;
        try (SessionNotes notes = SessionNotes.of(kept)) {
            boolean goesOn = notes.servedBefore();
            claim(name, files.stateDir(), notes, goesOn);
            files.resume(goesOn);
            notes.serves();
            resumed = true;
        } finally {
            if (!resumed) {
                kept.close();
            }
        }
    }

    /** @param kept of which each call is to be answered with an error; closed when this throws */
    static void refuse(PersistentSession kept) throws MountException {
        boolean noted = false;
        try (SessionNotes notes = SessionNotes.of(kept)) {
            notes.refuses();
            noted = true;
        } finally {
            if (!noted) {
                kept.close();
            }
        }
    }

    /** What programs wrote is in one folder alone: from another, fsync and close would answer that all is safe. */
    private static void claim(String name, VolumeStateDir folder, SessionNotes notes, boolean goesOn)
            throws ServiceException {
        SessionMark mark = folder.session();
        long id = goesOn ? notes.folder() : 0;
        if (id != 0 && !mark.isOf(id)) {
            throw new ServiceException(
                    Kind.PRECONDITION,
                    "volume " + name + " cannot be served from " + folder.path() + ": its state, and perhaps files that"
                            + " are not in Alluxio yet, are in another folder; serve it with the earlier spool (option"
                            + " spool, --spool, or in Kubernetes stateDir), or copy that folder here while nobody"
                            + " serves it, or unmount the volume and mount it again");
        }
        notes.folderIs(mark.renew(id));
    }
}
