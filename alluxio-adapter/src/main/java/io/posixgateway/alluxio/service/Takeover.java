package io.posixgateway.alluxio.service;

import com.google.protobuf.InvalidProtocolBufferException;
import io.posixgateway.alluxio.control.AttachRequest;
import io.posixgateway.fuse.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
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
    /** Between tries: at first, as the earlier process may be about to let go, and at most. */
    private static final long FIRST_PAUSE_MILLIS = 20;

    private static final long MOST_PAUSE_MILLIS = 500;
    /** How old a session may be, at most, for which nothing is prepared yet. */
    private static final long LOOK_NANOS = 2_000_000_000L;

    private final KeeperClient keeper;
    private final Volumes volumes;
    private final Executor executor;
    private final BooleanSupplier ending;
    private final Clock clock;
    private final Set<String> complained = ConcurrentHashMap.newKeySet();
    private final CountDownLatch tried = new CountDownLatch(1);
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile boolean prepared;
    private volatile boolean done;

    Takeover(KeeperClient keeper, Volumes volumes, Executor executor, BooleanSupplier ending, Clock clock) {
        this.clock = clock;
        this.keeper = keeper;
        this.volumes = volumes;
        this.executor = executor;
        this.ending = ending;
    }

    /** Waits until each session was tried once, or the time is over. */
    void awaitFirstTry(long millis) throws InterruptedException {
        if (!clock.await(tried, TimeUnit.MILLISECONDS.toNanos(millis))) {
            LOG.warn("Taking sessions over takes long; orders are taken meanwhile");
        }
    }

    /** Is every session served that was served before? */
    boolean done() {
        return done;
    }

    @Override
    public void run() {
        begun.countDown();
        long began = clock.nanos();
        long pauseMillis = FIRST_PAUSE_MILLIS;
        while (!done && !ending.getAsBoolean()) {
            Set<String> ids = served();
            done = ids != null && each(ids, volumes::resume, executor);
            tried.countDown();
            if (!done) {
                clock.pause(TimeUnit.MILLISECONDS.toNanos(pauseMillis));
                pauseMillis = Math.min(2 * pauseMillis, MOST_PAUSE_MILLIS);
            }
        }
        LOG.info("Taking over took {} ms", (clock.nanos() - began) / 1_000_000);
        volumes.endPreparation();
    }

    /** What is done with a session that was served before. */
    private interface Step {
        void run(AttachRequest request) throws ServiceException;
    }

    /**
     * While another process serves, which may be for weeks: loads what serving will need and connects to Alluxio, so that
     * taking over later takes no time. Nothing is changed, and what fails here is tried again when it counts. Returns when
     * this process serves or ends.
     */
    void prepare() throws InterruptedException {
        Rehearsal.run();
        do {
            Set<String> ids = served();
            if (ids != null) {
                volumes.discardAllBut(ids);
                // Here: the executor's threads are for taking over, and Alluxio may be away.
                each(ids, volumes::prepare, Runnable::run);
            }
            if (!prepared) {
                prepared = true;
                LOG.info("Ready; waiting for the end of the process that serves");
            }
        } while (!clock.await(begun, LOOK_NANOS) && !ending.getAsBoolean());
    }

    /** Was everything prepared that can be? */
    boolean prepared() {
        return prepared;
    }

    /** The sessions that were served before; null: the keeper does not say. */
    private @Nullable Set<String> served() {
        try {
            Set<String> ids = new HashSet<>();
            for (KeeperClient.Session session : keeper.list()) {
                if (session.hasRecord()) {
                    ids.add(session.id());
                }
            }
            complained.remove("");
            return ids;
        } catch (KeeperException e) {
            complain("", "No sessions can be taken over yet: " + e.getMessage());
            return null;
        }
    }

    private boolean each(Set<String> ids, Step step, Executor executor) {
        List<CompletableFuture<Boolean>> attempts = new ArrayList<>();
        for (String id : ids) {
            attempts.add(CompletableFuture.supplyAsync(() -> did(step, id), executor));
        }
        return attempts.stream().map(CompletableFuture::join).reduce(true, Boolean::logicalAnd);
    }

    private boolean did(Step step, String id) {
        try {
            byte[] stored = keeper.record(id);
            if (stored.length > 0) {
                step.run(AttachRequest.parseFrom(stored));
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
}
