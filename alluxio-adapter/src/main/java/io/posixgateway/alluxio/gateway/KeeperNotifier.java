package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.session.NotificationProxy;
import io.posixgateway.fuse.time.Clock;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has the keeper write a session's notifications, as long as it knows how. Any thread. */
final class KeeperNotifier implements NotificationProxy {
    private static final Logger LOG = LoggerFactory.getLogger(KeeperNotifier.class);
    private static final long AGAIN_NANOS = TimeUnit.MINUTES.toNanos(5);

    private final KeeperClient keeper;
    private final String session;
    private final String device;
    private final Clock clock;
    /** When it refused last, and whether it did. A later keeper may take the place of one that is too old. */
    private volatile long refusedNanos;

    private volatile boolean tooOld;

    /** @param device "major:minor" of the mount; empty: not known */
    KeeperNotifier(KeeperClient keeper, String session, String device, Clock clock) {
        this.clock = clock;
        this.keeper = keeper;
        this.session = session;
        this.device = device;
    }

    @Override
    public int carry(ByteBuffer messages, int bytes) {
        if (tooOld && clock.nanos() - refusedNanos < AGAIN_NANOS) {
            return AWAY;
        }
        byte[] notifications = new byte[bytes];
        messages.get(0, notifications);
        try {
            return -keeper.notify(session, device, notifications);
        } catch (KeeperException e) {
            return refused(e);
        }
    }

    private int refused(KeeperException e) {
        if (e.code().equals(KeeperException.INVALID)) {
            if (!tooOld) {
                LOG.warn(
                        "The keeper does not send kernel notifications for session {} ({}), so a child of this"
                                + " process does: update the keeper",
                        session,
                        e.getMessage());
            }
            refusedNanos = clock.nanos();
            tooOld = true;
        } else {
            LOG.debug("A kernel notification of session {} is sent without the keeper: {}", session, e.getMessage());
        }
        return AWAY;
    }
}
