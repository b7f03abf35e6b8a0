package io.posixgateway.alluxio.gateway;

import com.google.protobuf.InvalidProtocolBufferException;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.time.Supervised;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
 * <p>Runs on a thread of its own until all are served or the process ends. Each session is taken over for itself, several at a
 * time: one that fails, in whatever way, is reported once and tried again after a pause that grows, and holds up no other.
 *
 * <pre>
 *   tried ─► served
 *    ▲  └──► not yet (Alluxio, the keeper or an earlier process is in the way) ─► tried
 *    └─────► refused (this version, the options or Alluxio say no) ─► tried, for {@link #REFUSED_NANOS} ─► its calls answer EIO
 *    ▲                 and where that is not possible either, for as long again ─► its connection is aborted: ENOTCONN
 *    └─ its calls answer EIO ◄─ tried, for as long ◄─ the earlier process was killed, and the kernel does not end it
 *             └─ where those that it had received get no answer so ─► the same, for as long again ─► ENOTCONN
 * </pre>
 *
 * <p>{@link #done} may be asked by any thread.
 */
public final class Takeover implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Takeover.class);
    /** Between looks at the attempts, and between tries at first, as the earlier process may be about to let go. */
    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** After what nobody expected, which may cost much each time, and while another gateway serves, for each try the keeper logs. */
    private static final long MAX_LONG_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** So long a session is refused, by one try after the other, before its programs are told: they hang meanwhile. */
    static final long REFUSED_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** How old a session may be, at most, for which nothing is prepared yet. */
    private static final long LOOK_NANOS = 2_000_000_000L;

    private final Kept keeper;
    private final Server volumes;
    private final Executor executor;
    private final BooleanSupplier ending;
    private final Clock clock;
    private final Set<String> complained = ConcurrentHashMap.newKeySet();
    /** Why a session was not served at its last try. */
    private final Map<String, String> reasons = new ConcurrentHashMap<>();

    private final CountDownLatch tried = new CountDownLatch(1);
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile boolean prepared;
    private volatile boolean done;

    /** The sessions that are held. Any thread. */
    interface Kept {
        List<KeeperClient.Session> list() throws KeeperException;

        /** What was stored with a session; empty: nothing. */
        byte[] record(String id) throws KeeperException;
    }

    /** What serves them. Any thread. */
    interface Server {
        /** Serves a session that was served before; success where it is served already. */
        void resume(AttachRequest request) throws ServiceException;

        /**
         * From now on calls to this session, which cannot be served, answer EIO; success where it is served already.
         *
         * @param why in a sentence
         * @return false: but for those that an earlier process had received, as long as that does not end
         */
        boolean refuse(String id, String why) throws ServiceException;

        /**
         * Ends this session, of whose calls nobody can answer some; success where it is served already.
         *
         * @param why in a sentence
         */
        void abort(String id, String why) throws ServiceException;

        /** Gets ready for that. */
        void prepare(AttachRequest request) throws ServiceException;

        /** Only these may still be served. */
        void discardAllBut(Set<String> ids);

        /** All are served. */
        void endPreparation();
    }

    public Takeover(Kept keeper, Server volumes, Executor executor, BooleanSupplier ending, Clock clock) {
        this.clock = clock;
        this.keeper = keeper;
        this.volumes = volumes;
        this.executor = executor;
        this.ending = ending;
    }

    /** Waits until each session was tried once, or the time is over. */
    public void awaitFirstTry(long millis) throws InterruptedException {
        if (!clock.await(tried, TimeUnit.MILLISECONDS.toNanos(millis))) {
            LOG.warn("Taking over sessions takes long; control requests are served in the meantime");
        }
    }

    /** Is every session served that was served before? */
    public boolean done() {
        return done;
    }

    @Override
    public void run() {
        begun.countDown();
        long began = clock.nanos();
        long listed = began;
        Set<String> ids = served();
        Map<String, Attempts> all = new HashMap<>();
        while (!done && !ending.getAsBoolean()) {
            if (ids == null || clock.nanos() - listed >= MAX_PAUSE_NANOS) {
                ids = served();
                listed = clock.nanos();
            }
            if (ids != null) {
                all.keySet().retainAll(ids);
                ids.forEach(id -> all.computeIfAbsent(id, Attempts::new).proceed());
                done = all.values().stream().allMatch(Attempts::succeeded);
            }
            if (all.values().stream().allMatch(Attempts::triedOnce)) {
                tried.countDown();
            }
            if (!done) {
                clock.pause(STEP_NANOS);
            }
        }
        tried.countDown();
        LOG.info("Takeover finished in {} ms", (clock.nanos() - began) / 1_000_000);
        volumes.endPreparation();
    }

    /** How a try ended. */
    private enum Outcome {
        DONE,
        NOT_YET,
        /** Another gateway serves it, perhaps for good. */
        ELSEWHERE,
        /** It may be so for good. */
        REFUSED,
        /** The same, but it is tried for good: the earlier process may end. */
        ENDING,
        SURPRISE;

        long maxPauseNanos() {
            return this == SURPRISE || this == ELSEWHERE ? MAX_LONG_PAUSE_NANOS : MAX_PAUSE_NANOS;
        }

        boolean isRefusal() {
            return this == REFUSED || this == ENDING || this == SURPRISE;
        }
    }

    /** The tries to serve one session, one after the other. On the thread of {@link #run}. */
    private final class Attempts {
        private final String id;
        private @Nullable CompletableFuture<Outcome> running;
        private @Nullable Outcome last;
        private long pauseNanos = STEP_NANOS;
        private long dueNanos = clock.nanos();
        /** Since when each try was refused; counts while {@link #refused}. */
        private long refusedNanos;

        private boolean refused;

        Attempts(String id) {
            this.id = id;
        }

        boolean triedOnce() {
            return last != null;
        }

        boolean succeeded() {
            return last == Outcome.DONE;
        }

        /** Takes note of a try that has ended, and begins the next when its time has come. */
        void proceed() {
            CompletableFuture<Outcome> current = running;
            if (current != null && current.isDone()) {
                running = null;
                last = current.join();
                note(last);
                dueNanos = clock.nanos() + pauseNanos;
                pauseNanos = Math.min(2 * pauseNanos, last.maxPauseNanos());
            }
            if (running == null && !succeeded() && clock.nanos() - dueNanos >= 0) {
                running = CompletableFuture.supplyAsync(
                        refused && clock.nanos() - refusedNanos >= REFUSED_NANOS ? this::refuse : this::resume,
                        executor);
            }
        }

        private void note(Outcome outcome) {
            boolean again = refused;
            refused = outcome.isRefusal();
            if (refused && !again) {
                refusedNanos = clock.nanos();
            }
        }

        private Outcome resume() {
            return did(volumes::resume, id);
        }

        /** One last try; then its programs are told, in whichever way is left. */
        private Outcome refuse() {
            Outcome outcome = resume();
            if (!outcome.isRefusal()) {
                return outcome;
            }
            String why = reasons.getOrDefault(id, "See the log");
            boolean told = told("answered", () -> volumes.refuse(id, why) || outcome != Outcome.ENDING)
                    || (clock.nanos() - refusedNanos >= 2 * REFUSED_NANOS
                            && told("ended", () -> {
                                volumes.abort(id, why);
                                return true;
                            }));
            return told && outcome != Outcome.ENDING ? Outcome.DONE : outcome;
        }

        private boolean told(String how, Telling telling) {
            try {
                return telling.run();
            } catch (ServiceException e) {
                complain(
                        id + " not " + how, "Calls of session " + id + " cannot be " + how + " yet: " + e.getMessage());
            } catch (RuntimeException | Error e) {
                LOG.error("Calls of session {} cannot be {}; retrying", id, how, e);
            }
            return false;
        }
    }

    /** What ends the waiting of a session's programs; false: not of all. */
    private interface Telling {
        boolean run() throws ServiceException;
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
    public void prepare() throws InterruptedException {
        Supervised.run("Loading what serving needs", JvmWarmup::run);
        do {
            Supervised.run("Preparing for a takeover", this::prepareAll);
            if (!prepared) {
                prepared = true;
                LOG.info("Ready; waiting for the end of the serving process");
            }
        } while (!clock.await(begun, LOOK_NANOS) && !ending.getAsBoolean());
    }

    private void prepareAll() {
        Set<String> ids = served();
        if (ids != null) {
            // Here: the executor's threads are for taking over, and Alluxio may be away.
            ids.forEach(id -> did(volumes::prepare, id));
            volumes.discardAllBut(ids);
        }
    }

    /** Was everything prepared that can be? */
    public boolean prepared() {
        return prepared;
    }

    /** The sessions that were served before and can still be; null: the keeper does not say. */
    private @Nullable Set<String> served() {
        try {
            Set<String> ids = new HashSet<>();
            for (KeeperClient.Session session : keeper.list()) {
                if (session.hasRecord() && !session.ended()) {
                    ids.add(session.id());
                }
            }
            complained.remove("");
            return ids;
        } catch (KeeperException e) {
            complain("", "No sessions can be taken over yet: " + e.getMessage());
            return null;
        } catch (RuntimeException | Error e) {
            LOG.error("No sessions can be taken over yet", e);
            return null;
        }
    }

    private Outcome did(Step step, String id) {
        try {
            byte[] stored = keeper.record(id);
            if (stored.length > 0) {
                step.run(AttachRequest.parseFrom(stored));
            }
            return Outcome.DONE;
        } catch (InvalidProtocolBufferException e) {
            complain(id, "Session " + id + " has a record that is not of this gateway");
            reasons.put(id, "Its record was written by another version: serve it with the version that mounted it");
            return Outcome.REFUSED;
        } catch (KeeperException e) {
            return notYet(id, String.valueOf(e.getMessage()));
        } catch (ServiceException e) {
            Outcome outcome = notYet(id, String.valueOf(e.getMessage()));
            return switch (e.kind()) {
                case UNAVAILABLE, ABORTED -> outcome;
                case SERVED_ELSEWHERE -> Outcome.ELSEWHERE;
                case ENDING -> Outcome.ENDING;
                default -> Outcome.REFUSED;
            };
        } catch (RuntimeException | Error e) {
            reasons.put(id, "It failed unexpectedly: " + e);
            if (complained.add(id + ' ' + e.getClass().getName())) {
                LOG.error("Session {} cannot be served, for an unexpected reason; retrying", id, e);
            }
            return Outcome.SURPRISE;
        }
    }

    private Outcome notYet(String id, String why) {
        complain(id, "Session " + id + " cannot be served yet: " + why);
        reasons.put(id, why);
        return Outcome.NOT_YET;
    }

    private void complain(String about, String text) {
        if (complained.add(about)) {
            LOG.warn("{}; retrying", text);
        }
    }
}
