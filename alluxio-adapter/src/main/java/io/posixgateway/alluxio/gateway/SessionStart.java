package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.alluxio.journal.SessionMark;
import io.posixgateway.alluxio.journal.VolumeStateDir;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.session.MountException;
import io.posixgateway.fuse.session.PersistentSession;
import io.posixgateway.fuse.session.SessionNotes;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What comes between taking a session and serving it: whether the volume's folder is the session's, and what an earlier process left there. */
final class SessionStart {
    private static final Logger LOG = LoggerFactory.getLogger(SessionStart.class);

    private SessionStart() {}

    /**
     * A session that no other process serves while this one does. Gateways of earlier versions claim none.
     *
     * @param kept closed when this throws
     * @throws ServiceException SERVED_ELSEWHERE: another process serves it
     */
    static PersistentSession claimed(String name, PersistentSession kept) throws ServiceException {
        PersistentSession claimed = kept;
        try {
            claimed = kept.claimed();
        } catch (IOException e) {
            LOG.warn(
                    "Another gateway could serve session {} at the same time: it cannot be claimed ({})",
                    name,
                    e.getMessage());
        }
        if (claimed == null) {
            kept.close();
            throw new ServiceException(
                    Kind.SERVED_ELSEWHERE,
                    "another gateway serves volume " + name + " of this keeper; end one of the two gateways");
        }
        return claimed;
    }

    /**
     * Why a session cannot be served, where that is for the folder, which another process has: ENDING if whoever served last had a claim
     * and has it no more, so that it was killed and waits in the kernel. A thread of it may still write into the folder then, whatever it
     * waits for.
     *
     * @param refusedHere this process has the claim, and answers each call with an error
     * @param failure to open the folder, or another one, which is returned
     */
    static ServiceException whyHeld(String name, KeeperClient keeper, boolean refusedHere, ServiceException failure) {
        if (!(failure.getCause() instanceof StoreException cause) || !cause.isHeldFolder()) {
            return failure;
        }
        try {
            PersistentSession taken = keeper.take(name);
            return isEnding(refusedHere ? taken : claimed(name, taken), refusedHere)
                    ? new ServiceException(
                            Kind.ENDING,
                            "the gateway that served it was killed, but waits in the kernel, such as for a disk or a server that"
                                    + " does not respond, and can still write into the volume's folder: make that respond,"
                                    + " or restart the node",
                            failure)
                    : failure;
        } catch (ServiceException served) {
            return served;
        } catch (KeeperException | MountException unknown) {
            return failure;
        }
    }

    /** @param kept which this closes */
    private static boolean isEnding(PersistentSession kept, boolean refusedHere) throws MountException {
        try (SessionNotes notes = SessionNotes.of(kept)) {
            return (refusedHere || kept.claim() != null) && notes.claimed();
        } finally {
            kept.close();
        }
    }

    /**
     * Makes a file system ready for a session. Waits.
     *
     * @param taken closed when this throws
     * @return the session, which this process alone may serve
     * @throws ServiceException the folder is not that of this session, which others have served; SERVED_ELSEWHERE: another process serves
     *     it
     * @throws StoreException Alluxio does not answer
     */
    static PersistentSession resume(String name, AlluxioFileSystem files, PersistentSession taken)
            throws ServiceException, StoreException, MountException {
        PersistentSession kept = claimed(name, taken);
        boolean resumed = false;
        try (SessionNotes notes = SessionNotes.of(kept)) {
            notes.claimedIs(kept.claim() != null);
            boolean goesOn = notes.servedBefore();
            claim(name, files.stateDir(), notes, goesOn);
            files.resume(goesOn);
            notes.serves();
            resumed = true;
            return kept;
        } finally {
            if (!resumed) {
                kept.close();
            }
        }
    }

    /**
     * Each call is to be answered with an error.
     *
     * @param taken closed when this throws
     * @return the session, which this process alone may serve
     */
    static PersistentSession refuse(String name, PersistentSession taken) throws MountException, ServiceException {
        PersistentSession kept = claimed(name, taken);
        boolean noted = false;
        try (SessionNotes notes = SessionNotes.of(kept)) {
            notes.refuses();
            noted = true;
            return kept;
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
