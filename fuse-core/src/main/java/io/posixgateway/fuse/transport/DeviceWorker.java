package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;

/** A thread that receives messages, and the slot it receives into. Used by that thread alone. */
final class DeviceWorker {
    final int fd;
    MessageSlot current;

    /** A reply lies in {@link #current} and is to be sent. */
    boolean replyPending;

    DeviceWorker(int fd, MessageSlot first) {
        this.fd = fd;
        this.current = first;
    }

    /** Sends the pending reply, if any, and blocks for the next message; its bytes, or a negative errno. */
    int receive() {
        long slot = current.address();
        if (!replyPending) {
            return Native.readMessage(fd, slot, current.capacity());
        }
        replyPending = false;
        return Native.writeThenRead(fd, current.replyAddress(), slot, current.capacity());
    }

    /** Sends the pending reply, if any. 0 or a negative errno. */
    int flush() {
        if (!replyPending) {
            return 0;
        }
        replyPending = false;
        return Native.writeMessage(fd, current.replyAddress());
    }
}
