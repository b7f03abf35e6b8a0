package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.time.Supervised;
import io.posixgateway.fuse.transport.Exchange;
import io.posixgateway.fuse.transport.RequestHandler;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes raw requests, calls the file system, answers each request once.
 *
 * <p>A request first runs on the transport's thread with mayWait false. If the file system would have to wait, the exchange
 * is handed over and the request runs again, from its beginning, on a pool thread. Never on the transport's, which alone reads what
 * interrupts those that wait: where there is no room to wait in, it is refused after a while.
 *
 * <p>What is thrown on the way, by whatever, costs the request that it befell: EIO, and a line in the log. The thread, the
 * transport's or the pool's, goes on.
 *
 * <p>State of its own: the pool and the table of waiting calls. All else lives in the {@link Call} that each exchange
 * carries along.
 */
public final class Dispatcher implements RequestHandler, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);

    /** The kernel takes errors above this one only. */
    private static final int LOWEST_ERROR = -511;

    private static final long FINISH_SECONDS = 8;
    private static final long LEAVING_SECONDS = 2;
    /** So long a request that would wait holds up the transport's thread for room to wait in. */
    static final long ROOM_NANOS = 10_000_000_000L;

    /** So often one that holds up its thread looks for room to wait in without it. */
    static final long LOOK_NANOS = 20_000_000L;

    private final Operations operations;
    private final SessionMetrics metrics;
    private final boolean readOnly;
    private final String name;
    private final BlockingPool pool;
    private final WaitingCalls waiting = new WaitingCalls();
    /** Null: nothing is limited. */
    private final @Nullable DelayedCalls delayed;

    private final Failures failures = new Failures();
    /** Of every exchange that there is. */
    private final Set<Call> calls = ConcurrentHashMap.newKeySet();

    private volatile @Nullable Consumer<RequestRecord> listener;
    private volatile boolean leaving;
    private volatile Runnable whenLeft = () -> {};
    private volatile boolean closing;
    /** The last request that looked for room to wait in found none for {@link #ROOM_NANOS}. */
    private volatile boolean full;

    public Dispatcher(FileSystem fileSystem, InitHandler init, SessionMetrics metrics, DispatchOptions options) {
        this(fileSystem, init, metrics, options, BlockingPool.later());
    }

    /** @param later looks after threads that are stuck, and ends delays */
    Dispatcher(
            FileSystem fileSystem,
            InitHandler init,
            SessionMetrics metrics,
            DispatchOptions options,
            BlockingPool.Later later) {
        this.metrics = metrics;
        this.readOnly = options.readOnly();
        this.name = options.name();
        this.pool = new BlockingPool(options.poolThreads(), metrics, later);
        this.delayed = DelayedCalls.of(options.limit(), metrics, later);
        Operations.Builder table = new Operations.Builder()
                .on(Opcode.INIT, call -> init.init(call.exchange()))
                .on(Opcode.DESTROY, call -> 0)
                .on(Opcode.INTERRUPT, this::interrupt)
                .on(Opcode.NOTIFY_REPLY, call -> 0);
        new NodeOperations(fileSystem).define(table);
        new NameOperations(fileSystem).define(table);
        new FileOperations(fileSystem, metrics, options).define(table);
        new DirectoryOperations(fileSystem).define(table);
        new AttributeOperations(fileSystem).define(table);
        this.operations = table.build();
    }

    @Override
    @SuppressWarnings("CatchingUnchecked")
    public void handle(Exchange exchange) {
        Call call = callOf(exchange);
        call.begin();
        try {
            metrics.requestBegan();
            call.beganNanos = metrics.nanos();
            start(call);
        } catch (Throwable failure) {
            fail(call, failure);
        }
    }

    private void start(Call call) {
        if (delayed != null && !delayed.mayStart(call)) {
            delay(call, delayed);
        } else {
            runHere(call);
        }
    }

    /** On the transport's thread. */
    private void runHere(Call call) {
        int result = execute(call);
        if (result == FileSystem.WOULD_WAIT) {
            offload(call);
        } else {
            finish(call, result);
        }
    }

    private Call callOf(Exchange exchange) {
        if (exchange.attachment instanceof Call call) {
            return call;
        }
        Call call = new Call(exchange);
        exchange.attachment = call;
        calls.add(call);
        return call;
    }

    @SuppressWarnings("CatchingUnchecked")
    private int execute(Call call) {
        @Nullable Operation operation = operations.of(call.opcode);
        if (operation == null) {
            return -Errno.ENOSYS;
        }
        if (!call.complete()) {
            return -Errno.EINVAL;
        }
        if (readOnly && call.opcode.changes()) {
            return -Errno.EROFS;
        }
        try {
            return operation.run(call);
        } catch (Throwable failure) {
            failures.log("the file system", call.opcode, call.node, failure);
            return -Errno.EIO;
        }
    }

    private void offload(Call call) {
        if (leaving && call.opcode.answered()) {
            leave(call);
            return;
        }
        Exchange to = call.exchange().offload();
        if (to == null) {
            to = awaitRoom(call);
        }
        if (to != null) {
            letWait(call, to);
            toPool(call);
        } else if (leaving && call.opcode.answered()) {
            leave(call);
        } else {
            finish(call, -Errno.ENOMEM);
        }
    }

    /**
     * Waits on the transport's thread for room to wait in without it, which comes as soon as others are answered. Not for long: that
     * thread is to read interrupts, without which those that have the room may keep it for good.
     *
     * @return null: there is none
     */
    private @Nullable Exchange awaitRoom(Call call) {
        long end = metrics.clock().nanos() + ROOM_NANOS;
        Exchange to = null;
        boolean interrupted = false;
        while (to == null && !full && !leaving && !closing) {
            try {
                metrics.clock().sleep(LOOK_NANOS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            to = call.exchange().offload();
            if (to == null && metrics.clock().nanos() - end >= 0) {
                full = true;
                LOG.warn(
                        "{}: no memory for one more request that waits; those that would are refused until others are answered",
                        name);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return to;
    }

    /** A limit holds it up. */
    private void delay(Call call, DelayedCalls limit) {
        if (parks(call)) {
            limit.add(call, this::toPool, false);
            endDelays();
        } else if (hold(call, limit)) {
            runHere(call);
        }
    }

    /** From now on it waits, and may be interrupted, in an exchange of its own; false: nothing more can be parked. */
    private boolean parks(Call call) {
        Exchange to = call.exchange().park();
        if (to != null) {
            letWait(call, to);
            call.rest();
        }
        return to != null;
    }

    /**
     * Lets it hold up the transport's thread, until its turn comes or it can be parked: then the thread reads on, interrupts above all,
     * which the kernel gives out first.
     *
     * @return has its turn come? Else it was parked
     */
    private boolean hold(Call call, DelayedCalls limit) {
        CountDownLatch turn = new CountDownLatch(1);
        DelayedCall held = limit.add(call, its -> turn.countDown(), true);
        endDelays();
        boolean interrupted = false;
        boolean parked = false;
        boolean over = false;
        while (!over && !parked) {
            try {
                over = metrics.clock().await(turn, LOOK_NANOS);
                parked = !over && limit.letGo(held, () -> parks(call), this::toPool);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return over;
    }

    /** When the session ends, or is left to the next process, no limit holds anything up. */
    private void endDelays() {
        if (delayed != null && leaving) {
            delayed.endAll(this::withdraw);
        } else if (delayed != null && closing) {
            delayed.endAll(this::toPool);
        }
    }

    /**
     * From now on it may wait, and be interrupted.
     *
     * @param to the exchange in which it goes on, without the transport's thread
     */
    private void letWait(Call call, Exchange to) {
        Exchange from = call.exchange();
        full = false;
        call.mayWait = true;
        waiting.add(call);
        if (to != from) {
            move(call, from, to);
        }
    }

    /** On any thread, which has the call until the pool has it. */
    @SuppressWarnings("CatchingUnchecked")
    private void toPool(Call call) {
        try {
            metrics.requestHandedOver();
            call.rest();
            if (!pool.execute(() -> runOnPool(call))) {
                refuse(call);
            }
        } catch (Throwable failure) {
            fail(call, failure);
        }
    }

    /** The pool does not take it. */
    private void refuse(Call call) {
        metrics.requestResumed();
        boolean left = !waiting.remove(call);
        if (left || (leaving && call.opcode.answered())) {
            leave(call);
        } else {
            finish(call, -Errno.EIO);
        }
    }

    private void withdraw(Call call) {
        waiting.remove(call);
        leave(call);
    }

    /** It had no effect, or is done again as if it had none; the kernel will send it again. */
    private void leave(Call call) {
        metrics.requestEnded(call.opcode, 0, metrics.nanos() - call.beganNanos);
        end(call).leave();
    }

    /** The call goes with its request; the exchange it leaves gets the other's call. */
    private void move(Call call, Exchange from, Exchange to) {
        Call spare = callOf(to);
        spare.moveTo(from);
        from.attachment = spare;
        call.moveTo(to);
        to.attachment = call;
    }

    @SuppressWarnings("CatchingUnchecked")
    private void runOnPool(Call call) {
        try {
            metrics.requestResumed();
            if (waiting.areLeft()) {
                withdraw(call);
            } else {
                finishWaiting(call);
            }
        } catch (Throwable failure) {
            fail(call, failure);
        }
    }

    private void finishWaiting(Call call) {
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.takeNanos();
        call.thread = Thread.currentThread();
        call.remote = remote;
        remote.serve(name, call.unique(), call.pid());
        long waitedNanos = metrics.nanos() - call.beganNanos;
        int result = execute(call);
        if (result == -Errno.ETIMEDOUT && call.interrupted) {
            result = -Errno.EINTR;
        }
        metrics.requestSpent(call.opcode, waitedNanos, remote.takeNanos());
        call.remote = null;
        remote.serve("", 0, 0);
        if (waiting.remove(call)) {
            finish(call, result);
        } else {
            leave(call);
        }
    }

    private void finish(Call call, int result) {
        if (delayed != null) {
            delayed.executed(call, result);
        }
        int error = result >= 0 ? 0 : result < LOWEST_ERROR ? -Errno.EIO : result;
        long nanos = metrics.nanos() - call.beganNanos;
        metrics.requestEnded(call.opcode, -error, nanos);
        Consumer<RequestRecord> listening = listener;
        if (listening != null) {
            Supervised.run(
                    "The record of a request",
                    () -> listening.accept(Recorder.record(
                            call,
                            error < 0 ? error : result,
                            nanos,
                            metrics.clock().instant())));
        }
        answer(call, error, Math.max(result, 0));
    }

    private void answer(Call call, int error, int bytes) {
        boolean answered = call.opcode.answered();
        Exchange exchange = end(call);
        if (answered) {
            exchange.reply(error, bytes);
        } else {
            exchange.noReply();
        }
    }

    /** Whoever calls this answers or leaves it, and nobody else does: from the answer on the call is another request's. */
    private Exchange end(Call call) {
        Exchange exchange = call.exchange();
        call.end();
        if (exchange.isParked()) {
            calls.remove(call);
        }
        return exchange;
    }

    /** Something was thrown that is not foreseen. On the thread that has the call, unless that is answered. */
    private void fail(Call call, Throwable failure) {
        Opcode opcode = call.opcode;
        if (!call.hasEnded()) {
            long node = call.node;
            boolean left = !waiting.remove(call);
            call.remote = null;
            if (left) {
                end(call).leave();
            } else {
                answer(call, -Errno.EIO, 0);
            }
            metrics.requestEnded(opcode, Errno.EIO, 0);
            failures.log("the gateway", opcode, node, failure);
        } else {
            Supervised.failed("What follows the answer to a request", failure);
        }
    }

    /**
     * Tells every answered request from now on, on the thread that answers it, which is held up for as long as that takes.
     *
     * @param told null: nobody
     */
    public void listen(@Nullable Consumer<RequestRecord> told) {
        listener = told;
    }

    /** The requests that came at least so long ago and are not answered; time that a limit took is none of theirs. Any thread. */
    public List<InFlightRequest> inFlight(long atLeastNanos) {
        List<InFlightRequest> found = new ArrayList<>();
        long now = metrics.nanos();
        for (Call call : calls) {
            long began = call.beganNanos;
            if (began != Call.IDLE && !call.delayed && now - began >= atLeastNanos) {
                RemoteCalls remote = call.remote;
                InFlightRequest seen = new InFlightRequest(
                        call.unique(),
                        call.opcode,
                        call.node,
                        call.pid(),
                        call.interrupted,
                        now - began,
                        remote == null ? 0 : remote.runningNanos(),
                        remote != null && remote.isUnlimited(),
                        call.thread);
                if (call.beganNanos == began) {
                    found.add(seen);
                }
            }
        }
        return found;
    }

    /**
     * Interrupts the call to the store behind the file system that a request waits for; the file system sees it fail.
     *
     * @param atLeastNanos only if that call is under way for so long
     * @return was it interrupted?
     */
    public boolean interruptRemote(long unique, long atLeastNanos) {
        return waiting.interruptRemote(unique, atLeastNanos);
    }

    private int interrupt(Call call) {
        // The kernel names a request as it sent it last, with the resend bit where it did so again.
        long unique = call.int64(Layouts.INTERRUPT_IN_UNIQUE) & ~Layouts.UNIQUE_RESEND;
        waiting.interrupt(unique);
        if (delayed != null) {
            delayed.interrupt(unique);
        }
        return 0;
    }

    /**
     * Before a connection that outlives this process is left to the next one: requests that would have to wait are left
     * unanswered from now on, since the kernel will send them again, while those that need not wait are still answered. Waits, for
     * a bounded time, until the requests on the pool are answered; those that are not when this is closed are left unanswered, too.
     *
     * @param whenLeft is run by {@link #close} before it interrupts these: what they end with from then on is told to nobody
     */
    public void leaveWaiting(Runnable whenLeft) {
        this.whenLeft = whenLeft;
        leaving = true;
        endDelays();
        if (!pool.finish(LEAVING_SECONDS)) {
            LOG.info("requests in flight take long; new requests wait for the next process");
        }
    }

    /** As {@link #leaveWaiting(Runnable)}, where nobody cares for these. */
    void leaveWaiting() {
        leaveWaiting(() -> {});
    }

    /** As the session ends: from now on no limit holds up a request, nor a thread of the transport. Does not wait. */
    public void endLimits() {
        closing = true;
        endDelays();
    }

    /** As {@link #close(long)}, after a few seconds. */
    @Override
    public void close() {
        close(FINISH_SECONDS);
    }

    /**
     * Waits, for a bounded time, until the requests on the pool are answered; those that take longer are interrupted, unanswered if
     * they are left to the next process. Then the transport may free its memory, and the file system may be closed.
     *
     * @param seconds after which requests are interrupted
     * @return false: some ignored the interrupt, and go on; nobody is answered by them any more
     */
    public boolean close(long seconds) {
        endLimits();
        if (pool.finish(seconds)) {
            return true;
        }
        if (leaving) {
            LOG.info("requests in flight take long; they are left to the next process");
            whenLeft.run();
            waiting.leaveAll();
        } else {
            LOG.warn("the session ends: interrupting requests that are still in flight");
        }
        waiting.interruptAll();
        boolean ended = pool.finish(FINISH_SECONDS);
        if (!ended) {
            LOG.error("requests in flight ignored the interrupt; their threads are abandoned");
            waiting.leaveAll();
        }
        return ended;
    }
}
