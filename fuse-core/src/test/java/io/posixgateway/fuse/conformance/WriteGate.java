package io.posixgateway.fuse.conformance;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.testing.FaultyFileSystem.Fault;
import io.posixgateway.fuse.wire.Opcode;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Holds up every WRITE between the making of some directory and its removal. Any thread. */
public final class WriteGate implements Fault {
    private static final CountDownLatch OPEN = new CountDownLatch(0);

    private volatile CountDownLatch gate = OPEN;

    @Override
    public int strike(Opcode operation, Request request) {
        switch (operation) {
            case MKDIR -> gate = new CountDownLatch(1);
            case RMDIR -> gate.countDown();
            case WRITE -> {
                return pass(request);
            }
            default -> {}
        }
        return 0;
    }

    private int pass(Request request) {
        CountDownLatch now = gate;
        if (now.getCount() == 0) {
            return 0;
        }
        if (!request.mayWait()) {
            return FileSystem.WOULD_WAIT;
        }
        try {
            return now.await(1, TimeUnit.MINUTES) ? 0 : -Errno.EIO;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -Errno.EINTR;
        }
    }
}
