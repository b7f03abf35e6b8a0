package io.posixgateway.fuse.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.dispatch.MemoryExchange.Offload;
import io.posixgateway.fuse.dispatch.MemoryExchange.Shape;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.testing.NullFileSystem;
import io.posixgateway.fuse.time.ManualClock;
import io.posixgateway.fuse.wire.Opcode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A session's limits, in virtual time. */
class DelayedCallsTest {
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1000 * MILLI;
    private static final int MIB = 1 << 20;
    private static final int FILE_BYTES = 64 * MIB;

    private final ManualClock clock = new ManualClock();
    private final SessionMetrics metrics = new SessionMetrics(clock);
    private final PriorityQueue<Planned> planned = new PriorityQueue<>(Comparator.comparingLong(Planned::atNanos));
    private long uniques;

    private record Planned(long atNanos, Runnable work) {}

    private synchronized void plan(Runnable work, long delayNanos) {
        planned.add(new Planned(clock.nanos() + delayNanos, work));
    }

    private synchronized Optional<Planned> nextBy(long nanos) {
        return Optional.ofNullable(planned.peek())
                .filter(next -> next.atNanos() <= nanos)
                .map(next -> planned.remove());
    }

    /** What is planned is done at its time. */
    private void after(long nanos) {
        long end = clock.nanos() + nanos;
        for (Optional<Planned> next = nextBy(end); next.isPresent(); next = nextBy(end)) {
            clock.advanceNanos(Math.max(0, next.get().atNanos() - clock.nanos()));
            next.get().work().run();
        }
        clock.advanceNanos(end - clock.nanos());
    }

    private Dispatcher dispatcher(long bytesPerSecond, long requestsPerSecond) {
        RateLimit limit = new RateLimit(bytesPerSecond, requestsPerSecond);
        return new Dispatcher(
                new NullFileSystem(10, FILE_BYTES),
                exchange -> 64,
                metrics,
                new DispatchOptions(false, 4, "", limit),
                this::plan);
    }

    private MemoryExchange asked(Opcode opcode, byte[] arguments, byte[] data) {
        MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
        uniques += 2;
        exchange.ask(opcode.code(), uniques, 2, arguments, data);
        return exchange;
    }

    private MemoryExchange stat(Dispatcher dispatcher) {
        MemoryExchange exchange = asked(Opcode.GETATTR, new byte[16], Message.NOTHING);
        dispatcher.handle(exchange);
        return exchange;
    }

    private MemoryExchange read(Dispatcher dispatcher, long offset, int bytes) {
        MemoryExchange exchange = asked(Opcode.READ, Message.transfer(0, offset, bytes), Message.NOTHING);
        dispatcher.handle(exchange);
        return exchange;
    }

    private void interrupt(Dispatcher dispatcher, long unique) {
        dispatcher.handle(asked(Opcode.INTERRUPT, new Message().int64(unique).done(), Message.NOTHING));
    }

    private static void answered(MemoryExchange exchange) throws InterruptedException {
        exchange.awaitAnswer();
        assertThat(exchange.error).isZero();
        assertThat(exchange.answers).isEqualTo(1);
    }

    @Test
    void handle_moreRequestsThanTheLimit_delaysEachUntilItsTurnAndFailsNone() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(0, 10)) {
            List<MemoryExchange> all = new ArrayList<>();
            for (int i = 0; i < 15; i++) {
                all.add(stat(dispatcher));
            }
            for (MemoryExchange atOnce : all.subList(0, 11)) { // a second's, and the one that then has to be paid for
                answered(atOnce);
            }
            assertThat(metrics.delayed()).isEqualTo(4);
            assertThat(metrics.workersBusy()).isZero();
            for (int i = 11; i < 15; i++) {
                assertThat(all.get(i).answers).isZero();
                after(100 * MILLI);
                answered(all.get(i));
            }
            assertThat(metrics.delayed()).isZero();
            assertThat(metrics.delays()).isEqualTo(4);
            assertThat(metrics.delayedNanos()).isEqualTo((100 + 200 + 300 + 400) * MILLI);
            assertThat(metrics.latencies(Opcode.GETATTR).sumNanos())
                    .as("the gateway took no time")
                    .isZero();
        }
    }

    @Test
    void handle_moreBytesThanTheLimit_delaysReadsAndWritesAlone() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(MIB, 0)) {
            answered(read(dispatcher, 0, MIB));
            answered(read(dispatcher, MIB, MIB));
            MemoryExchange write = asked(Opcode.WRITE, Message.transfer(0, 0, MIB / 2), new byte[MIB / 2]);
            dispatcher.handle(write);
            MemoryExchange last = read(dispatcher, 0, 1);
            answered(stat(dispatcher));
            after(SECOND - 1);
            assertThat(write.answers).isZero();
            after(1);
            answered(write);
            assertThat(write.reply().getInt(write.replyAt())).isEqualTo(MIB / 2);
            assertThat(last.answers).isZero();
            after(SECOND / 2);
            answered(last);
        }
    }

    /** A program that reads to the end asks for more than there is. */
    @Test
    void handle_readsThatBringLittle_payForThatAlone() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(MIB, 0)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            for (int i = 0; i < 1000; i++) {
                exchange.ask(Opcode.READ, 2, Message.transfer(0, FILE_BYTES - 10, MIB), Message.NOTHING);
                dispatcher.handle(exchange);
                answered(exchange);
            }
            assertThat(metrics.delays()).isZero();
        }
    }

    @Test
    void handle_withinTheLimit_neverDelays() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(MIB, 10)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            for (int i = 0; i < 1000; i++) {
                exchange.ask(Opcode.READ, 2, Message.transfer(0, 0, MIB / 10), Message.NOTHING);
                dispatcher.handle(exchange);
                answered(exchange);
                after(100 * MILLI);
            }
            assertThat(metrics.delays()).isZero();
        }
    }

    /** What was not used for long is not saved up for longer than a second. */
    @Test
    void handle_afterALongRest_letsOneSecondsWorthThrough() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(0, 10)) {
            after(3600 * SECOND);
            for (int i = 0; i < 11; i++) {
                answered(stat(dispatcher));
            }
            assertThat(stat(dispatcher).answers).isZero();
        }
    }

    /** Of one a second, so that the next one is due in so many. */
    private List<MemoryExchange> busyFor(Dispatcher dispatcher, int seconds) {
        List<MemoryExchange> all = new ArrayList<>();
        for (int i = 0; i <= seconds; i++) {
            all.add(stat(dispatcher));
        }
        return all;
    }

    @Test
    void interrupt_aDelayedRequest_isAnsweredWithinASecondWithoutAnError() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            busyFor(dispatcher, 10);
            MemoryExchange killed = stat(dispatcher);
            long unique = uniques;
            MemoryExchange behind = stat(dispatcher);
            interrupt(dispatcher, unique);
            after(DelayedCalls.INTERRUPTED_NANOS - 1);
            assertThat(killed.answers).isZero();
            after(1);
            answered(killed);
            assertThat(behind.answers).isZero();
            after(11 * SECOND);
            answered(behind);
            assertThat(killed.answers).isEqualTo(1);
        }
    }

    /** A signal may overtake its request. */
    @Test
    void interrupt_beforeItsRequestIsDelayed_countsForIt() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            busyFor(dispatcher, 10);
            interrupt(dispatcher, uniques + 4);
            MemoryExchange killed = stat(dispatcher);
            after(DelayedCalls.INTERRUPTED_NANOS);
            answered(killed);
        }
    }

    /** Programs that are killed again and again do not make the others wait. */
    @Test
    void interrupt_manyTimes_owesNothing() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            busyFor(dispatcher, 10);
            for (int i = 0; i < 20; i++) {
                MemoryExchange killed = stat(dispatcher);
                interrupt(dispatcher, uniques);
                after(SECOND);
                answered(killed);
            }
            MemoryExchange other = stat(dispatcher);
            after(2 * SECOND);
            answered(other);
        }
    }

    /** abort_after and slow_request are about what hangs. */
    @Test
    void inFlight_whileAndAfterALimitHeldItUp_leavesThatTimeOut() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            for (MemoryExchange each : busyFor(dispatcher, 5)) {
                if (each.answers == 0 && metrics.delayed() > 0) {
                    assertThat(dispatcher.inFlight(1)).isEmpty();
                    after(SECOND);
                }
                answered(each);
            }
            assertThat(metrics.delays()).isEqualTo(4);
            assertThat(metrics.latencies(Opcode.GETATTR).sumNanos()).isZero();
        }
    }

    /** The kernel sends it to the next process again. */
    @Test
    void leaveWaiting_leavesDelayedRequestsUnanswered() {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            stat(dispatcher);
            stat(dispatcher);
            MemoryExchange before = stat(dispatcher);
            dispatcher.leaveWaiting();
            assertThat(before.unanswered).isTrue();
            MemoryExchange after = stat(dispatcher);
            assertThat(after.unanswered).isTrue();
            assertThat(metrics.delayed()).isZero();
            assertThat(metrics.inFlight()).isZero();
            after(60 * SECOND);
            assertThat(before.answers).isEqualTo(1);
        }
    }

    @Test
    void close_answersDelayedRequests() throws InterruptedException {
        List<MemoryExchange> all = new ArrayList<>();
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            for (int i = 0; i < 8; i++) {
                all.add(stat(dispatcher));
            }
        }
        for (MemoryExchange exchange : all) {
            answered(exchange);
        }
    }

    /** Then its thread is all that can wait for its turn. */
    @Test
    void handle_whereNoSlotIsFree_waitsOnTheTransportsThread() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            stat(dispatcher);
            stat(dispatcher);
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.NONE);
            exchange.ask(Opcode.GETATTR.code(), 100, 2, new byte[16], Message.NOTHING);
            Thread transport = new Thread(() -> dispatcher.handle(exchange));
            transport.start();
            Eventually.holds("a timer is set", () -> timers() == 1);
            assertThat(exchange.answers).isZero();
            assertThat(metrics.delayed()).isEqualTo(1);
            after(SECOND);
            transport.join();
            answered(exchange);
            assertThat(metrics.delayedNanos()).isEqualTo(SECOND);
        }
    }

    /** The transport's thread then reads what came meanwhile, interrupts above all; the request keeps its place. */
    @Test
    void handle_whereASlotGetsFree_waitsOnWithoutTheTransportsThread() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            busyFor(dispatcher, 2);
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.NONE);
            exchange.ask(Opcode.GETATTR.code(), 100, 2, new byte[16], Message.NOTHING);
            Thread transport = new Thread(() -> dispatcher.handle(exchange));
            transport.start();
            clock.awaitWaiting(1);
            MemoryExchange behind = stat(dispatcher);
            exchange.handsOver(Offload.COPY);
            clock.advanceNanos(Dispatcher.LOOK_NANOS);
            Eventually.holds("the thread reads on", () -> !transport.isAlive());
            assertThat(exchange.answeredBy().answers).isZero();
            assertThat(metrics.delayed()).isEqualTo(3);
            after(2 * SECOND);
            answered(exchange);
            assertThat(behind.answers).isZero();
            after(SECOND);
            answered(behind);
        }
    }

    @Test
    void interrupt_whatLeftTheTransportsThread_isAnsweredWithinASecond() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            busyFor(dispatcher, 10);
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.NONE);
            exchange.ask(Opcode.GETATTR.code(), 100, 2, new byte[16], Message.NOTHING);
            Thread transport = new Thread(() -> dispatcher.handle(exchange));
            transport.start();
            clock.awaitWaiting(1);
            exchange.handsOver(Offload.COPY);
            clock.advanceNanos(Dispatcher.LOOK_NANOS);
            Eventually.holds("the thread reads on", () -> !transport.isAlive());
            interrupt(dispatcher, 100);
            after(DelayedCalls.INTERRUPTED_NANOS);
            answered(exchange);
        }
    }

    @Test
    void close_whileTheTransportsThreadWaits_letsItGoOn() throws InterruptedException {
        MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.NONE);
        Thread transport;
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            busyFor(dispatcher, 10);
            long before = metrics.delayed();
            exchange.ask(Opcode.GETATTR.code(), 100, 2, new byte[16], Message.NOTHING);
            transport = new Thread(() -> dispatcher.handle(exchange));
            transport.start();
            Eventually.holds("it waits", () -> metrics.delayed() > before);
        }
        transport.join();
        answered(exchange);
    }

    /** It is in no queue any more, nor does the next one wait for its timer. */
    @Test
    void request_whoseTimerCannotBeSet_failsAloneAndOnce() throws InterruptedException {
        AtomicBoolean broken = new AtomicBoolean();
        try (Dispatcher dispatcher = new Dispatcher(
                new NullFileSystem(10, FILE_BYTES),
                exchange -> 64,
                metrics,
                new DispatchOptions(false, 4, "", new RateLimit(0, 1)),
                (work, delayNanos) -> {
                    if (broken.get()) {
                        throw new IllegalStateException("thrown on purpose by the timer");
                    }
                    plan(work, delayNanos);
                })) {
            broken.set(true);
            MemoryExchange failed = stat(dispatcher);
            for (int burst = 0; burst < 10 && failed.error == 0; burst++) {
                assertThat(failed.answers).isEqualTo(1);
                failed = stat(dispatcher);
            }
            assertThat(failed.error).isEqualTo(-Errno.EIO);
            assertThat(metrics.delayed()).isZero();
            broken.set(false);
            MemoryExchange next = stat(dispatcher);
            assertThat(metrics.delayed()).isEqualTo(1);
            after(2 * SECOND);
            answered(next);
            assertThat(failed.answers).isEqualTo(1);
        }
    }

    /** All of a batch are out of their queues already. */
    @Test
    void turn_thatFails_isToldAndKeepsNoOther() throws InterruptedException {
        DelayedCalls calls = new DelayedCalls(new RateLimit(0, 1000), metrics, this::plan);
        List<Throwable> told = new ArrayList<>();
        AtomicInteger came = new AtomicInteger();
        Thread timer = new Thread(() -> {
            for (int i = 0; i < 2; i++) {
                calls.add(asCall(), call -> fail(), false);
                calls.add(asCall(), call -> came.incrementAndGet(), false);
                after(SECOND);
            }
            calls.add(asCall(), call -> came.incrementAndGet(), false);
            calls.add(asCall(), call -> came.incrementAndGet(), false);
            calls.endAll(call -> fail());
        });
        timer.setUncaughtExceptionHandler((thread, failure) -> told.add(failure));
        timer.start();
        timer.join();
        assertThat(came).hasValue(2);
        assertThat(told).hasSize(4).hasOnlyElementsOfType(OutOfMemoryError.class);
        assertThat(metrics.delayed()).isZero();
    }

    private static void fail() {
        throw new OutOfMemoryError("unable to create native thread");
    }

    private Call asCall() {
        Call call = new Call(asked(Opcode.GETATTR, new byte[16], Message.NOTHING));
        call.begin();
        call.beganNanos = clock.nanos();
        return call;
    }

    private synchronized int timers() {
        return planned.size();
    }

    @Test
    void handle_manyDelayed_haveOneTimer() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            List<MemoryExchange> all = busyFor(dispatcher, 100);
            assertThat(metrics.delayed()).isEqualTo(99);
            assertThat(timers()).isEqualTo(1);
            long last = uniques;
            for (int i = 0; i < 10; i++) {
                interrupt(dispatcher, last - 2L * i);
            }
            assertThat(timers()).as("the next turn comes before theirs ends").isEqualTo(1);
            after(SECOND);
            assertThat(metrics.delayed()).isEqualTo(99 - 1 - 10);
            assertThat(timers()).as("its own, and the pool's").isLessThanOrEqualTo(2);
            answered(all.get(2));
            assertThat(all.get(3).answers).isZero();
        }
    }

    /** A request that needs no bytes does not wait for those that do. */
    @Test
    void handle_bothLimits_readsThatWaitForBytesHoldUpNoOther() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(MIB, 100)) {
            read(dispatcher, 0, MIB);
            read(dispatcher, 0, MIB);
            MemoryExchange late = read(dispatcher, 0, MIB);
            answered(stat(dispatcher));
            assertThat(late.answers).isZero();
            after(SECOND);
            answered(late);
        }
    }

    /** The kernel is to get what is read meanwhile, above all an interrupt, and what ends sooner its slot. */
    @Test
    void handle_delayed_isParked() {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            for (MemoryExchange each : busyFor(dispatcher, 3)) {
                assertThat(each.parked).isEqualTo(each.answers == 0);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Opcode.class,
            names = {"RELEASE", "RELEASEDIR", "FORGET", "DESTROY"})
    void handle_whatOthersWaitFor_isNeverDelayed(Opcode opcode) {
        try (Dispatcher dispatcher = dispatcher(0, 1)) {
            stat(dispatcher);
            stat(dispatcher);
            MemoryExchange exchange = asked(opcode, new byte[opcode.argumentBytes()], Message.NOTHING);
            dispatcher.handle(exchange);
            assertThat(exchange.answers).isEqualTo(1);
        }
    }

    /** Each second brings as much as it may, from however many at once. */
    @Test
    void handle_manyAtOnce_getTheLimitExactly() throws InterruptedException {
        try (Dispatcher dispatcher = dispatcher(2L * MIB, 0)) {
            List<MemoryExchange> all = new ArrayList<>();
            for (int i = 0; i < 14; i++) {
                all.add(read(dispatcher, 0, MIB / 2));
            }
            after(SECOND + 500 * MILLI);
            // A second that was saved up, one and a half that passed, and the one that is still to be paid for.
            for (MemoryExchange one : all.subList(0, 11)) {
                answered(one);
                assertThat(one.bodyBytes).isEqualTo(MIB / 2);
            }
            assertThat(all.get(11).answers).isZero();
        }
    }
}
