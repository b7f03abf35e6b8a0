package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The states of a request ({@link Call}, {@link WaitingCalls}, {@link BlockingPool}, {@link Dispatcher}): it ends exactly
 * once, though it is interrupted or the session ends; an interrupt reaches the request that it is meant for, and no other.
 */
public final class RequestStress {
    private static final AtomicLong UNIQUES = new AtomicLong();
    private static final SessionMetrics METRICS = new SessionMetrics(Clock.system(), 2);

    private static final SessionMetrics HURRIED = new SessionMetrics(new HurryingClock(), 2);
    private static final ScheduledThreadPoolExecutor SOON = new ScheduledThreadPoolExecutor(1, work -> {
        Thread thread = new Thread(work, "relief");
        thread.setDaemon(true);
        return thread;
    });

    private RequestStress() {}

    /** After a moment, whatever the delay. */
    private static void soon(Runnable work, long delayNanos) {
        var unused = SOON.schedule(work, 1, TimeUnit.NANOSECONDS);
    }

    private static long unique() {
        return UNIQUES.addAndGet(2);
    }

    private static Dispatcher dispatcher(int threads) {
        return new Dispatcher(new WaitingFileSystem(), exchange -> 0, METRICS, new DispatchOptions(false, threads));
    }

    private static void take(Call call, long nanos) {
        call.begin();
        call.beganNanos = nanos;
    }

    /** An interrupt comes while its request begins to wait. */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "The request sees it.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "It is lost.")
    @State
    public static class InterruptBesideBegin {
        private final WaitingCalls waiting = new WaitingCalls();
        private final Call call = new Call(new TestExchange().ask(Opcode.FSYNC, 8, 0));

        public InterruptBesideBegin() {
            take(call, 1);
        }

        @Actor
        public void begin() {
            waiting.add(call);
        }

        @Actor
        public void interrupt() {
            waiting.interrupt(8);
        }

        @Arbiter
        public void end(I_Result r) {
            r.r1 = call.interrupted ? 1 : 0;
        }
    }

    /** An interrupt comes while its request is answered, and the slot serves another. */
    @JCStressTest
    @Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "The other request does not see it.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The other request is interrupted.")
    @State
    public static class InterruptBesideEnd {
        private final WaitingCalls waiting = new WaitingCalls();
        private final TestExchange exchange = new TestExchange().ask(Opcode.FSYNC, 8, 0);
        private final Call call = new Call(exchange);

        public InterruptBesideEnd() {
            take(call, 1);
            waiting.add(call);
        }

        @Actor
        public void answer() {
            waiting.remove(call);
            call.end();
            exchange.ask(Opcode.FSYNC, 10, 0);
            take(call, 2);
        }

        @Actor
        public void interrupt() {
            waiting.interrupt(8);
        }

        @Arbiter
        public void end(I_Result r) {
            r.r1 = call.interrupted ? 1 : 0;
        }
    }

    /** The pool is closed while work comes, and while threads are added for work that waits behind a stuck one. */
    @JCStressTest
    @Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "All that was accepted was done.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Work was lost, or done twice.")
    @State
    public static class PoolClosedUnderWork {
        private final BlockingPool pool = new BlockingPool(1, HURRIED, RequestStress::soon);
        private final AtomicInteger done = new AtomicInteger();
        private int accepted;

        @Actor
        public void execute() {
            for (int i = 0; i < 3; i++) {
                accepted += pool.execute(done::incrementAndGet) ? 1 : 0;
            }
        }

        @Actor
        public void close() {
            pool.finish(60);
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = pool.finish(60) ? 1 : 0;
            r.r1 = accepted - done.get();
        }
    }

    /** A request that waits is interrupted; its slot serves another at once. */
    @JCStressTest
    @Outcome(
            id = "2, 0",
            expect = Expect.ACCEPTABLE,
            desc = "Each is answered once, and the second is not interrupted.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "One is not answered, or twice, or the second is interrupted.")
    @State
    public static class InterruptWhileServed {
        private static final Dispatcher DISPATCHER = dispatcher(2);
        /** Those that serve no state at the moment: as of a transport's slots, a dispatcher remembers all that it has met. */
        private static final Queue<TestExchange> IDLE = new ConcurrentLinkedQueue<>();

        private final TestExchange exchange = take();
        private final TestExchange interrupt = take();
        private final long first = unique();

        @Actor
        public void serve() {
            DISPATCHER.handle(exchange.ask(Opcode.FSYNC, first, 0));
            exchange.awaitEnded(1);
            DISPATCHER.handle(exchange.ask(Opcode.FSYNC, unique(), WaitingFileSystem.REFUSES_INTERRUPT));
        }

        @Actor
        public void interrupt() {
            DISPATCHER.handle(interrupt.ask(Opcode.INTERRUPT, unique(), first));
        }

        @Arbiter
        public void end(II_Result r) {
            exchange.awaitEnded(2);
            r.r1 = exchange.ended.get();
            r.r2 = exchange.error;
            IDLE.add(exchange);
            IDLE.add(interrupt);
        }

        private static TestExchange take() {
            TestExchange idle = IDLE.poll();
            return idle == null ? new TestExchange() : idle.anew();
        }
    }

    /** Requests that wait come while the session is left to the next process. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "Answered or left, once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Neither, or both.")
    @State
    public static class ServeWhileLeft {
        private final Dispatcher dispatcher = dispatcher(1);
        private final TestExchange one = new TestExchange();
        private final TestExchange other = new TestExchange();

        @Actor
        public void serve() {
            dispatcher.handle(one.ask(Opcode.FSYNC, 8, 0));
            dispatcher.handle(other.ask(Opcode.FSYNC, 10, 0));
        }

        @Actor
        public void leave() {
            dispatcher.leaveWaiting();
        }

        @Arbiter
        public void end(II_Result r) {
            dispatcher.close();
            r.r1 = one.ended.get();
            r.r2 = other.ended.get();
        }
    }

    /** Waits for every fsync. */
    private static final class WaitingFileSystem implements FileSystem {
        static final long REFUSES_INTERRUPT = 1;

        @Override
        public int fsync(Request request, long node, long handle, boolean dataOnly) {
            if (!request.mayWait()) {
                return WOULD_WAIT;
            }
            if (handle == REFUSES_INTERRUPT && request.interrupted()) {
                return -Errno.EINTR;
            }
            return 0;
        }

        @Override
        public int lookup(Request request, long parent, Name name, Entry entry) {
            return -Errno.ENOENT;
        }

        @Override
        public int getattr(Request request, long node, long handle, Attributes attributes) {
            return -Errno.ENOENT;
        }

        @Override
        public int open(Request request, long node, int flags, OpenReply reply) {
            return -Errno.ENOENT;
        }

        @Override
        public int read(Request request, long node, long handle, long offset, ByteBuffer into) {
            return -Errno.ENOENT;
        }

        @Override
        public int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer) {
            return -Errno.ENOENT;
        }
    }
}
