package io.posixgateway.alluxio.service;

import io.posixgateway.fuse.session.NoticeCarrier;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has the keeper write a session's notices, as long as it knows how. Any thread. */
final class KeeperNotices implements NoticeCarrier {
    private static final Logger LOG = LoggerFactory.getLogger(KeeperNotices.class);

    private final KeeperClient keeper;
    private final String session;
    private volatile boolean tooOld;

    KeeperNotices(KeeperClient keeper, String session) {
        this.keeper = keeper;
        this.session = session;
    }

    @Override
    public int carry(ByteBuffer messages, int bytes) {
        if (tooOld) {
            return AWAY;
        }
        byte[] notices = new byte[bytes];
        messages.get(0, notices);
        try {
            return -keeper.notify(session, notices);
        } catch (KeeperException e) {
            return refused(e);
        }
    }

    private int refused(KeeperException e) {
        if (e.code().equals(KeeperException.UNAVAILABLE)) {
            LOG.debug("A notice is written without the keeper: {}", e.getMessage());
            return AWAY;
        }
        if (e.code().equals(KeeperException.INVALID)) {
            tooOld = true;
            LOG.warn(
                    "The keeper writes no notices for session {} ({}): this process does, and may then have to wait for"
                            + " requests when it is killed; update the keeper",
                    session,
                    e.getMessage());
            return AWAY;
        }
        LOG.debug("A notice is not told", e);
        return -Errno.ENOTCONN;
    }
}
