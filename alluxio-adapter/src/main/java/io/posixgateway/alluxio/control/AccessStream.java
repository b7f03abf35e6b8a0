package io.posixgateway.alluxio.control;

import io.grpc.stub.ServerCallStreamObserver;
import io.posixgateway.alluxio.control.proto.AccessLines;
import io.posixgateway.alluxio.gateway.AccessLog;
import java.util.List;

/** Sends lines of an access log to one caller until it goes away. What the caller does not take in time is lost, and counted. */
final class AccessStream implements Runnable {
    private static final int BATCH = 500;
    private static final long PAUSE_MILLIS = 50;

    private final AccessLog.Follower follower;
    private final ServerCallStreamObserver<AccessLines> observer;

    AccessStream(AccessLog.Follower follower, ServerCallStreamObserver<AccessLines> observer) {
        this.follower = follower;
        this.observer = observer;
    }

    @Override
    public void run() {
        try (follower) {
            observer.onNext(AccessLines.getDefaultInstance());
            while (!observer.isCancelled()) {
                if (!observer.isReady() || !send()) {
                    Thread.sleep(PAUSE_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            // The caller has gone between two looks at it.
            org.slf4j.LoggerFactory.getLogger(AccessStream.class)
                    .debug("A reader of the access log has disconnected: {}", e.toString());
        }
    }

    private boolean send() {
        List<String> lines = follower.lines(BATCH);
        if (lines.isEmpty()) {
            return false;
        }
        observer.onNext(AccessLines.newBuilder()
                .addAllLines(lines)
                .setDropped(follower.dropped())
                .build());
        return true;
    }
}
