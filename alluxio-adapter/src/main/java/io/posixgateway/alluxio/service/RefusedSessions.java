package io.posixgateway.alluxio.service;

import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.session.KeptSession;
import io.posixgateway.fuse.session.MountException;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.time.Clock;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sessions of the keeper that cannot be served, though programs use them: each of their calls is answered with EIO, for a call that
 * waits for nobody could not even be killed. The mount stays; an attach, or the next process, serves it as soon as that is possible.
 * Called under the lock of the volume; {@link #count} by any thread.
 */
final class RefusedSessions {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedSessions.class);

    private final KeeperClient keeper;
    private final Clock clock;
    private final Map<String, FuseSession> sessions = new ConcurrentHashMap<>();

    RefusedSessions(KeeperClient keeper, Clock clock) {
        this.keeper = keeper;
        this.clock = clock;
    }

    /** @param why in a sentence that says what to do */
    void refuse(String name, SessionOptions options, String why) throws KeeperException, MountException {
        FuseSession there = sessions.get(name);
        if (there != null && !there.ended()) {
            return;
        }
        KeptSession kept = keeper.take(name);
        sessions.put(name, FuseSession.serve(RefusingFileSystem.make(), kept, options, clock));
        LOG.error(
                "Session {} at {} cannot be served: its programs get EIO from now on. {}. Attach it with what is wrong mended, or unmount it",
                name,
                kept.target(),
                why);
    }

    /** True if calls to this session are answered so. */
    boolean has(String name) {
        return sessions.containsKey(name);
    }

    /** It is to be served, or left to the next process. */
    void end(String name) {
        FuseSession there = sessions.remove(name);
        if (there != null) {
            there.close();
        }
    }

    /** All are left to the next process. */
    void endAll() {
        sessions.keySet().forEach(this::end);
    }

    /** How many are refused now. */
    int count() {
        return (int)
                sessions.values().stream().filter(session -> !session.ended()).count();
    }
}
