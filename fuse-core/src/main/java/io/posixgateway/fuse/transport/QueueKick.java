package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests that came while nobody served lie in the kernel's queues, and it looks there only when an entry of the same queue
 * is committed: registering entries alone leaves them lying. So the kernel is asked to send something itself.
 *
 * <p>It answers each FUSE_NOTIFY_RETRIEVE with a NOTIFY_REPLY, which travels through the queue of the CPU that asked; here
 * for no bytes of a regular file that it knows. Committing that fetches the first request that waits.
 */
final class QueueKick {
    private static final Logger LOG = LoggerFactory.getLogger(QueueKick.class);
    private static final int RETRIEVE = 5;
    private static final int BYTES = 16 + 32;
    /** Numbers that the kernel will not come to by counting; even, since the lowest bit is its own. */
    private static final long FIRST_UNIQUE = 1L << 62;

    private QueueKick() {}

    /**
     * On the queue's thread, pinned to its CPU, once all its entries are registered.
     *
     * @param files to be tried one after the other: the kernel may have forgotten them, and refuses folders
     * @param clock makes numbers that no earlier process used
     */
    static void send(int fd, long[] files, int times, Clock clock) {
        ByteBuffer message = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.nativeOrder());
        message.putInt(0, BYTES);
        message.putInt(4, RETRIEVE);
        int sent = 0;
        for (long file : files) {
            message.putLong(24, file);
            int result = 0;
            while (sent < times && result >= 0) {
                message.putLong(16, FIRST_UNIQUE | (clock.nanos() << 8 & (FIRST_UNIQUE - 1)) | (sent & 0x7f) << 1);
                result = Native.write(fd, message, BYTES);
                sent += result < 0 ? 0 : 1;
            }
            if (sent == times || (result != -Errno.ENOENT && result != -Errno.EINVAL)) {
                return;
            }
        }
        LOG.info("no file is available to wake the device's readers; the next request will fetch those that wait");
    }
}
