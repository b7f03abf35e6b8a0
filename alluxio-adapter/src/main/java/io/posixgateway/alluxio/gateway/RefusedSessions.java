package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.session.MountException;
import io.posixgateway.fuse.session.PersistentSession;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sessions of the keeper that cannot be served, though programs use them: each of their calls is answered with EIO, for a call that
 * waits for nobody could not even be killed. The mount stays; an attach, or the next process, serves it as soon as that is possible.
 * Called under the lock of the volume; {@link #count} and {@link #served} by any thread.
 */
final class RefusedSessions {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedSessions.class);

    private final KeeperClient keeper;
    private final Clock clock;
    private final Map<String, Refused> sessions = new ConcurrentHashMap<>();

    /** One of them, which the next keeper gets as any other. */
    private final class Refused implements KeeperWatch.Served {
        private final String name;
        private final FuseSession session;
        private final byte[] record;

        Refused(String name, FuseSession session, byte[] record) {
            this.name = name;
            this.session = session;
            this.record = record;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public boolean give() throws KeeperException {
            return session.lend(kept -> keeper.adopt(name, kept, record));
        }
    }

    RefusedSessions(KeeperClient keeper, Clock clock) {
        this.keeper = keeper;
        this.clock = clock;
    }

    /**
     * Answers its calls so from now on.
     *
     * @param record what is stored with the session
     * @param why in a sentence that says what to do
     * @return see {@link FuseSession#answersEarlier}
     */
    boolean refuse(String name, byte[] record, SessionOptions options, String why)
            throws KeeperException, MountException, ServiceException {
        Refused there = sessions.get(name);
        if (there != null && !there.session.ended()) {
            return there.session.answersEarlier();
        }
        end(name); // one whose mount is gone
        PersistentSession kept = SessionStart.refuse(name, keeper.take(name));
        FuseSession session = FuseSession.serve(RefusingFileSystem.make(), kept, options, clock);
        sessions.put(name, new Refused(name, session, record));
        LOG.error(
                "Session {} at {} cannot be served: its programs now get EIO. {}. Correct the cause and attach it"
                        + " again, or unmount it",
                name,
                kept.target(),
                why);
        return session.answersEarlier();
    }

    /**
     * Ends one of whose calls some cannot be answered, not even with an error: all fail with ENOTCONN, now and later, and the mount is to be made
     * anew.
     *
     * @param why in a sentence
     * @throws ServiceException SERVED_ELSEWHERE: another process serves it
     */
    void abort(String name, String why) throws KeeperException, ServiceException {
        PersistentSession kept = record(name) == null ? takenToAbort(name) : null;
        try {
            keeper.abort(name);
        } finally {
            if (kept != null) {
                kept.close();
            }
        }
        end(name);
        LOG.error(
                "Session {} was ended, because some of its calls cannot even fail with EIO: its programs now get ENOTCONN."
                        + " {}. Mount it again; the CSI driver does so for its volumes",
                name,
                why);
    }

    /** Null: the keeper cannot give it, so that nobody can serve it, whoever claims it. */
    private @Nullable PersistentSession takenToAbort(String name) throws KeeperException, ServiceException {
        try {
            return SessionStart.claimed(name, keeper.take(name));
        } catch (KeeperException e) {
            if (e.code().equals(KeeperException.UNAVAILABLE) || e.code().equals("not_found")) {
                throw e;
            }
            LOG.error("Session {} is ended although it cannot be claimed: {}", name, e.getMessage());
            return null;
        }
    }

    /** What was stored with this session; null: its calls are not answered so. */
    byte @Nullable [] record(String name) {
        Refused there = sessions.get(name);
        return there == null || there.session.ended() ? null : there.record;
    }

    /** Those whose mounts hang on this process where no keeper holds them. */
    List<KeeperWatch.Served> served() {
        return sessions.values().stream()
                .filter(one -> !one.session.ended())
                .<KeeperWatch.Served>map(one -> one)
                .toList();
    }

    /** It is to be served, or left to the next process. */
    void end(String name) {
        Refused there = sessions.remove(name);
        if (there != null) {
            there.session.close();
        }
    }

    /** All are left to the next process. */
    void endAll() {
        sessions.keySet().forEach(this::end);
    }

    /** How many are refused now. */
    int count() {
        return served().size();
    }
}
