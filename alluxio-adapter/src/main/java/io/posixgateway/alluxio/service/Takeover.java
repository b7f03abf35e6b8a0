package io.posixgateway.alluxio.service;

import com.google.protobuf.InvalidProtocolBufferException;
import io.posixgateway.alluxio.control.AttachRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * At the start of a process: serves again every session that the keeper holds and an earlier process served.
 *
 * <p>Runs on a thread of its own until all are served (each failure is logged once per session, and tried again) or the
 * process ends; resumes several volumes at a time. {@link #done} may be asked by any thread.
 */
final class Takeover implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Takeover.class);
    private static final long PAUSE_MILLIS = 500;

    private final KeeperClient keeper;
    private final Volumes volumes;
    private final Executor executor;
    private final BooleanSupplier ending;
    private final Set<String> complained = ConcurrentHashMap.newKeySet();
    private volatile boolean done;

    Takeover(KeeperClient keeper, Volumes volumes, Executor executor, BooleanSupplier ending) {
        this.keeper = keeper;
        this.volumes = volumes;
        this.executor = executor;
        this.ending = ending;
    }

    /** Is every session served that was served before? */
    boolean done() {
        return done;
    }

    @Override
    public void run() {
        while (!done && !ending.getAsBoolean()) {
            done = tryAll();
            if (!done) {
                pause();
            }
        }
    }

    private boolean tryAll() {
        try {
            List<CompletableFuture<Boolean>> attempts = new ArrayList<>();
            for (KeeperClient.Session session : keeper.list()) {
                if (session.hasRecord()) {
                    attempts.add(CompletableFuture.supplyAsync(() -> resumed(session.id()), executor));
                }
            }
            complained.remove("");
            return attempts.stream().map(CompletableFuture::join).reduce(true, Boolean::logicalAnd);
        } catch (KeeperException e) {
            complain("", "No sessions can be taken over yet: " + e.getMessage());
            return false;
        }
    }

    private boolean resumed(String id) {
        try {
            byte[] stored = keeper.record(id);
            if (stored.length > 0) {
                volumes.resume(AttachRequest.parseFrom(stored));
            }
            return true;
        } catch (InvalidProtocolBufferException e) {
            LOG.error("Session {} has a record that is none of ours; it is left alone", id);
            return true;
        } catch (KeeperException | ServiceException e) {
            complain(id, "Session " + id + " cannot be served yet: " + e.getMessage());
            return false;
        }
    }

    private void complain(String about, String text) {
        if (complained.add(about)) {
            LOG.warn("{}; trying again", text);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
