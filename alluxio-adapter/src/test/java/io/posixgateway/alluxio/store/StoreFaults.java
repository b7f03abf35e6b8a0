package io.posixgateway.alluxio.store;

import io.posixgateway.alluxio.client.StoreParts;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Counts the calls of one store, and makes them fail, wait or be seen. Any thread.
 *
 * <p>{@code faults.on(StoreCall.RENAME).nth(2).loseAnswer()} is done once: the second rename from now on is done and answered
 * with EIO. Without {@link Fault#nth} it is the next one, with {@link Fault#always} each. What was set up first comes first.
 */
public final class StoreFaults {
    private static final long LIMIT_SECONDS = 60;

    private final ManualClock clock;
    private final List<Fault> faults = new CopyOnWriteArrayList<>();
    private final Map<StoreCall, Integer> counts = new EnumMap<>(StoreCall.class);
    /** How far the thread's call comes. */
    private final ThreadLocal<MemoryMaster.Reach> reach = ThreadLocal.withInitial(() -> MemoryMaster.Reach.ALL);

    /** What servers do once they notice that the client is gone. */
    private final List<Runnable> broken = new CopyOnWriteArrayList<>();

    private final AtomicInteger sent = new AtomicInteger();
    private volatile Death death = new Death(Integer.MAX_VALUE, false, () -> {});
    private volatile boolean gone;

    /**
     * When a client's process is killed.
     *
     * @param calls so many are sent before
     * @param heard true if it got the answer of the last one, and did what it does then
     */
    private record Death(int calls, boolean heard, Runnable last) {}

    StoreFaults(ManualClock clock) {
        this.clock = clock;
    }

    /** What a call does at the cluster. */
    interface Work<T> {
        T run() throws StoreException;
    }

    /** How a call that reached the cluster ends. */
    private enum End {
        DONE,
        ANSWER_LOST,
        GOES_ON,
        REPEATED,
        FAILS,
        NOT_DONE,
        SILENT
    }

    /** Something that befalls a call. */
    public final class Fault {
        private final StoreCall call;
        private String path = "";
        private int skips;
        private boolean stays;
        private End end = End.DONE;
        private int errno;
        private Runnable before = () -> {};
        private Runnable after = () -> {};
        private MemoryMaster.Reach comesTo = MemoryMaster.Reach.ALL;

        private Fault(StoreCall call) {
            this.call = call;
        }

        /** Counting from the next one, which is 1. */
        public Fault nth(int number) {
            skips = number - 1;
            return this;
        }

        /** Only where the path, of a rename the old one, ends so. */
        public Fault at(String pathEnd) {
            path = pathEnd;
            return this;
        }

        /** Each time, until {@link #remove}. */
        public Fault always() {
            stays = true;
            return this;
        }

        public void remove() {
            faults.remove(this);
        }

        /** It is not done. */
        public Fault fail(int failure) {
            end = End.FAILS;
            errno = failure;
            return added();
        }

        /** It is not done, and whoever waited for an answer gives up: a master that may only be slow. */
        public Fault beSilent() {
            end = End.SILENT;
            return added();
        }

        /** It is done, and answered with EIO. */
        public Fault loseAnswer() {
            end = End.ANSWER_LOST;
            return added();
        }

        /** It is done, its answer is lost, and the client sends it again, which is answered. */
        public Fault repeat() {
            end = End.REPEATED;
            return added();
        }

        /**
         * It is answered with EIO while the cluster still does it.
         *
         * @param answered returns when that is to be
         */
        public Fault answerTooSoon(Runnable answered) {
            end = End.GOES_ON;
            return after(answered);
        }

        /** It is not done, which nobody knows: answered with EIO. */
        public Fault loseRequest() {
            end = End.NOT_DONE;
            return added();
        }

        /**
         * Of a rename over a file: the leader dies when it has dropped what is there, and the next one takes the same call, which is sent to
         * it, for one that is done.
         */
        public Fault keepOnlyFirstEntry() {
            comesTo = MemoryMaster.Reach.TARGET_DROPPED;
            return repeat();
        }

        /**
         * Of a rename over a file: the master is killed when it has deleted what is there, in the UFS as well, and copies.
         *
         * @param journaled false: its journal says nothing of that
         */
        public Fault dieInTheCopy(boolean journaled) {
            comesTo = journaled ? MemoryMaster.Reach.TARGET_DROPPED : MemoryMaster.Reach.OBJECT_DELETED;
            return loseAnswer();
        }

        /** Of a rename: the master is killed when its journal has it, before the store is told. */
        public Fault dieOnceNoted() {
            comesTo = MemoryMaster.Reach.NOTED;
            return loseAnswer();
        }

        /** Of a rename: the master is killed when the store has done all of it, and the journal has nothing of that. */
        public Fault dieAfterTheCopy() {
            comesTo = MemoryMaster.Reach.OBJECT_MOVED;
            return loseAnswer();
        }

        /** Of a rename over a file: it is refused when what is there is deleted, in the UFS as well. */
        public Fault failInTheCopy(int failure) {
            comesTo = MemoryMaster.Reach.TARGET_DROPPED;
            errno = failure;
            return loseAnswer();
        }

        /** So much virtual time passes first. */
        public Fault delay(Duration time) {
            return before(() -> clock.advance(time));
        }

        /** This is run first, on the thread that calls. */
        public Fault before(Runnable work) {
            before = work;
            return added();
        }

        /** This is run when it is done, before it is answered. */
        public Fault after(Runnable work) {
            after = work;
            return added();
        }

        /** It waits until the test opens it. */
        public Held hold() {
            Held held = new Held();
            before(held::pass);
            return held;
        }

        private Fault added() {
            if (!faults.contains(this)) {
                faults.add(this);
            }
            return this;
        }
    }

    /** A call that waits. */
    public static final class Held {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch opened = new CountDownLatch(1);

        /** Waits until a call is here. */
        public void await() throws InterruptedException {
            if (!reached.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("no call within " + LIMIT_SECONDS + " s");
            }
        }

        /** Lets it go on. */
        public void open() {
            opened.countDown();
        }

        private void pass() {
            reached.countDown();
            try {
                if (!opened.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                    throw new AssertionError("not opened within " + LIMIT_SECONDS + " s");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Sets up what befalls a call of this kind. */
    public Fault on(StoreCall call) {
        return new Fault(call);
    }

    /** From now on this client's calls reach nobody, as after its process was killed. */
    public void dieNow() {
        gone = true;
        breakOff();
    }

    private void breakOff() {
        broken.forEach(Runnable::run);
        broken.clear();
    }

    /** Something that a server does when this client's process ends. */
    void whenGone(Runnable work) {
        broken.add(work);
    }

    /** It does not do that any more. */
    void notWhenGone(Runnable work) {
        broken.remove(work);
    }

    /**
     * This client's process is killed when it has sent so many more calls.
     *
     * @param heard true: when it is about to send the next one; false: before it hears of the last one, which is done
     * @param last is run at that moment; it is over when this is called again
     */
    public synchronized void dieAfter(int calls, boolean heard, Runnable last) {
        sent.set(0);
        death = new Death(calls, heard, last);
    }

    /** Calls since the last {@link #dieAfter}. */
    public int sent() {
        return sent.get();
    }

    private void die() {
        Death now = death;
        synchronized (this) {
            if (gone) {
                return;
            }
            gone = true;
            now.last.run(); // whoever asks whether it is dead waits for that
            breakOff();
        }
    }

    /** How often it was called since the beginning, or the last {@link #forgetCounts}. */
    public synchronized int count(StoreCall call) {
        return counts.getOrDefault(call, 0);
    }

    /** Of all calls. */
    public synchronized Map<StoreCall, Integer> counts() {
        return Map.copyOf(counts);
    }

    public synchronized void forgetCounts() {
        counts.clear();
    }

    private synchronized @Nullable Fault take(StoreCall call, String path) {
        counts.merge(call, 1, Integer::sum);
        for (Fault fault : List.copyOf(faults)) {
            if (fault.call == call && path.endsWith(fault.path) && fault.skips-- <= 0) {
                if (!fault.stays) {
                    fault.remove();
                }
                return fault;
            }
        }
        return null;
    }

    /** Asked by a call itself. */
    MemoryMaster.Reach reach() {
        return reach.get();
    }

    private static <T> T done(Fault fault, Work<T> work) throws StoreException {
        try {
            return work.run();
        } finally {
            fault.after.run(); // that nothing is there is an answer, too
        }
    }

    <T> T call(StoreCall call, String path, Work<T> work) throws StoreException {
        Fault fault = take(call, path);
        if (fault == null) {
            return reached(call, path, work);
        }
        fault.before.run();
        if (Thread.currentThread().isInterrupted()) {
            throw new StoreException(Errno.EINTR, call + " " + path + " was interrupted", null);
        }
        if (fault.end == End.FAILS) {
            throw new StoreException(fault.errno, call + " " + path + " fails by test", null);
        }
        if (fault.end == End.SILENT) {
            throw StoreParts.silence(call + " " + path + ": no answer yet");
        }
        if (fault.end == End.NOT_DONE) {
            throw unanswered(call, path);
        }
        if (fault.end == End.GOES_ON) {
            AsyncCall.start(() -> reached(call, path, work));
            fault.after.run();
            throw unanswered(call, path);
        }
        if (fault.end == End.REPEATED) {
            return repeated(fault, () -> reached(call, path, work));
        }
        return atOnce(fault, call, path, work);
    }

    private <T> T repeated(Fault fault, Work<T> work) throws StoreException {
        reach.set(fault.comesTo);
        try {
            done(fault, work);
        } catch (StoreException lost) {
            // nobody hears of it
        } finally {
            reach.set(MemoryMaster.Reach.ALL);
        }
        try {
            return work.run();
        } catch (StoreException e) {
            throw e.ofRepetition();
        }
    }

    private <T> T atOnce(Fault fault, StoreCall call, String path, Work<T> work) throws StoreException {
        reach.set(fault.comesTo);
        try {
            T result = done(fault, () -> reached(call, path, work));
            if (fault.end == End.ANSWER_LOST) {
                throw fault.errno == 0
                        ? unanswered(call, path)
                        : new StoreException(fault.errno, call + " " + path + " fails by test", null);
            }
            return result;
        } finally {
            reach.set(MemoryMaster.Reach.ALL);
        }
    }

    private <T> T reached(StoreCall call, String path, Work<T> work) throws StoreException {
        int number = sent.incrementAndGet();
        Death end = death;
        if (number > end.calls) {
            die();
        }
        if (gone) {
            throw unanswered(call, path);
        }
        T answer = work.run();
        if (number == end.calls && !end.heard) {
            die();
            throw unanswered(call, path);
        }
        return answer;
    }

    /** Calls to a worker, and what is sent to the master once, say that nobody answered; others to the master are just EIO. */
    private static StoreException unanswered(StoreCall call, String path) {
        String message = call + " " + path + ": no answer";
        return call == StoreCall.WRITE || call == StoreCall.COMPLETE || call == StoreCall.RENAME
                ? StoreParts.unanswered(message)
                : new StoreException(Errno.EIO, message, null);
    }
}
