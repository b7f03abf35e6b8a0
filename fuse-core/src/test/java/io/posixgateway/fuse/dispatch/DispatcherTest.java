package io.posixgateway.fuse.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.dispatch.MemoryExchange.Offload;
import io.posixgateway.fuse.dispatch.MemoryExchange.Shape;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.testing.FaultyFileSystem;
import io.posixgateway.fuse.testing.NullFileSystem;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.time.ManualClock;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DispatcherTest {
    private final SessionMetrics metrics = new SessionMetrics(Clock.system());

    private Dispatcher dispatcher(FileSystem fileSystem, boolean readOnly) {
        return new Dispatcher(fileSystem, exchange -> 64, metrics, new DispatchOptions(readOnly, 4));
    }

    @ParameterizedTest
    @EnumSource(Shape.class)
    void lookupAnswersTheEntryInTheWiresForm(Shape shape) {
        try (Dispatcher dispatcher = dispatcher(new NullFileSystem(10, 5000), false)) {
            MemoryExchange exchange = MemoryExchange.of(shape, Offload.SAME);
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f7"));
            dispatcher.handle(exchange);
            assertThat(exchange.answers).isEqualTo(1);
            assertThat(exchange.error).isZero();
            assertThat(exchange.bodyBytes).isEqualTo(Layouts.ENTRY_OUT_BYTES);
            int at = exchange.replyAt();
            assertThat(exchange.reply().getLong(at + Layouts.ENTRY_OUT_NODEID)).isEqualTo(9);
            assertThat(exchange.reply().getLong(at + Layouts.ENTRY_OUT_ATTR_VALID))
                    .isEqualTo(3600);
            assertThat(exchange.reply().getLong(at + Layouts.ENTRY_OUT_ATTR + Layouts.ATTR_SIZE))
                    .isEqualTo(5000);
        }
    }

    @ParameterizedTest
    @EnumSource(Shape.class)
    void readPutsTheBytesIntoTheReply(Shape shape) {
        try (Dispatcher dispatcher = dispatcher(new NullFileSystem(10, 5000), false)) {
            MemoryExchange exchange = MemoryExchange.of(shape, Offload.SAME);
            exchange.ask(Opcode.READ, 2, Message.transfer(0, 4990, 4096), Message.NOTHING);
            dispatcher.handle(exchange);
            assertThat(exchange.bodyBytes).isEqualTo(10);
            for (int i = 0; i < 10; i++) {
                assertThat(exchange.reply().get(exchange.replyAt() + i)).isEqualTo(NullFileSystem.byteAt(4990 + i));
            }
            assertThat(metrics.bytesRead()).isEqualTo(10);
        }
    }

    @ParameterizedTest
    @EnumSource(Shape.class)
    void writeTakesWhatFollowsItsArguments(Shape shape) {
        NullFileSystem fileSystem = new NullFileSystem(10, 0);
        try (Dispatcher dispatcher = dispatcher(fileSystem, false)) {
            MemoryExchange exchange = MemoryExchange.of(shape, Offload.SAME);
            exchange.ask(Opcode.WRITE, 2, Message.transfer(0, 0, 100), new byte[100]);
            dispatcher.handle(exchange);
            assertThat(exchange.error).isZero();
            assertThat(exchange.reply().getInt(exchange.replyAt())).isEqualTo(100);
            assertThat(fileSystem.bytesWritten()).isEqualTo(100);
            exchange.ask(Opcode.WRITE, 2, Message.transfer(0, 0, 101), new byte[100]);
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EINVAL);
        }
    }

    @Test
    void forgetHasNoAnswer() {
        try (Dispatcher dispatcher = dispatcher(new NullFileSystem(1, 1), false)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            exchange.ask(Opcode.FORGET, 2, new Message().int64(1).done(), Message.NOTHING);
            dispatcher.handle(exchange);
            assertThat(exchange.unanswered).isTrue();
            assertThat(exchange.answers).isEqualTo(1);
        }
    }

    @Test
    void anUnknownOpcodeIsNotImplementedAndAShortMessageInvalid() {
        try (Dispatcher dispatcher = dispatcher(new NullFileSystem(1, 1), false)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            exchange.ask(4711, 2, 1, Message.NOTHING, Message.NOTHING);
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.ENOSYS);
            exchange.ask(Opcode.READ, 2, new byte[8], Message.NOTHING);
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EINVAL);
        }
    }

    /** The kernel resolves such names by itself, but for nodes that it forgot; nobody else is to leave a folder by them. */
    @ParameterizedTest
    @ValueSource(strings = {".", "..", "../x", "/x", "x/../y"})
    void aNameThatLeadsElsewhereIsInvalid(String name) {
        try (Dispatcher dispatcher = dispatcher(new NullFileSystem(1, 1), false)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names(name));
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EINVAL);
            exchange.ask(Opcode.SYMLINK, 1, Message.NOTHING, Message.names(name, "target"));
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EINVAL);
            exchange.ask(Opcode.RENAME, 1, new Message().int64(1).done(), Message.names("a", name));
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EINVAL);
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names(".x"));
            dispatcher.handle(exchange);
            assertThat(exchange.error).isNotEqualTo(-Errno.EINVAL);
        }
    }

    @Test
    void aNameOf256BytesIsTooLongAndOneWithoutEndInvalid() {
        try (Dispatcher dispatcher = dispatcher(new NullFileSystem(1, 1), false)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("x".repeat(256)));
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.ENAMETOOLONG);
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, new byte[] {'a', 'b'});
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EINVAL);
        }
    }

    @Test
    void aReadOnlySessionRefusesChangesAndOpensForWriting() {
        try (Dispatcher dispatcher = dispatcher(new NullFileSystem(1, 1), true)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            exchange.ask(Opcode.UNLINK, 1, Message.NOTHING, Message.names("f0"));
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EROFS);
            exchange.ask(Opcode.OPEN, 2, new Message().int32(1).int32(0).done(), Message.NOTHING);
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EROFS);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Offload.class,
            names = {"SAME", "COPY"})
    void whatWouldWaitIsAnsweredOnceWhereverItGoes(Offload offload) throws InterruptedException {
        FileSystem slow = new FaultyFileSystem(new NullFileSystem(3, 10), FaultyFileSystem.delay(1_000_000));
        try (Dispatcher dispatcher = dispatcher(slow, false)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.APART, offload);
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f2"));
            dispatcher.handle(exchange);
            exchange.awaitAnswer();
            assertThat(exchange.answers).isEqualTo(1);
            assertThat(exchange.error).isZero();
            assertThat(exchange.answeredBy().reply().getLong(exchange.replyAt()))
                    .isEqualTo(4);
            assertThat(metrics.handedOver()).isEqualTo(1);
        }
        assertThat(metrics.inFlight()).isZero();
        assertThat(metrics.workersBusy()).isZero();
        assertThat(metrics.workersAlive()).isZero();
    }

    /** Does an operation on a thread of its own, that of a transport, and returns once that waits by the clock. */
    private static Thread waiting(Dispatcher dispatcher, MemoryExchange exchange, ManualClock clock)
            throws InterruptedException {
        Thread transport = new Thread(() -> dispatcher.handle(exchange));
        transport.start();
        clock.awaitWaiting(1);
        return transport;
    }

    private static MemoryExchange lookup(Offload offload) {
        MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, offload);
        exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f2"));
        return exchange;
    }

    @Test
    void handle_whereNothingMoreCanWait_goesOnOnceThereIsRoom() throws InterruptedException {
        ManualClock clock = new ManualClock();
        FileSystem slow = new FaultyFileSystem(new NullFileSystem(3, 10), FaultyFileSystem.delay(1_000_000));
        try (Dispatcher dispatcher =
                new Dispatcher(slow, exchange -> 64, new SessionMetrics(clock), new DispatchOptions(false, 4))) {
            MemoryExchange exchange = lookup(Offload.NONE);
            Thread transport = waiting(dispatcher, exchange, clock);
            exchange.handsOver(Offload.COPY);
            clock.advanceNanos(Dispatcher.LOOK_NANOS);
            transport.join();
            exchange.awaitAnswer();
            assertThat(exchange.error).isZero();
        }
    }

    /** What interrupts those that have the room is read by the transport's threads alone. */
    @Test
    void handle_whereNothingMoreCanWaitForLong_isRefusedAndHoldsUpNoThread() throws InterruptedException {
        ManualClock clock = new ManualClock();
        FileSystem slow = new FaultyFileSystem(new NullFileSystem(3, 10), FaultyFileSystem.delay(1_000_000));
        try (Dispatcher dispatcher =
                new Dispatcher(slow, exchange -> 64, new SessionMetrics(clock), new DispatchOptions(false, 4))) {
            MemoryExchange first = lookup(Offload.NONE);
            Thread transport = waiting(dispatcher, first, clock);
            clock.advanceNanos(Dispatcher.ROOM_NANOS);
            transport.join();
            assertThat(first.error).isEqualTo(-Errno.ENOMEM);
            MemoryExchange second = lookup(Offload.NONE);
            dispatcher.handle(second);
            assertThat(second.error).isEqualTo(-Errno.ENOMEM);
            MemoryExchange third = lookup(Offload.COPY);
            dispatcher.handle(third);
            third.awaitAnswer();
            assertThat(third.error).isZero();
        }
    }

    /** @param errno that the file system ends the call with: a client's own time-out may come of the interrupt */
    @ParameterizedTest
    @CsvSource({
        "0, " + Errno.EINTR,
        "0, " + Errno.ETIMEDOUT,
        Layouts.UNIQUE_RESEND + ", " + Errno.EINTR,
    })
    void anInterruptReachesARequestThatWaits(long resent, int errno) throws InterruptedException {
        CountDownLatch waits = new CountDownLatch(1);
        FileSystem endless = new FaultyFileSystem(new NullFileSystem(3, 10), (operation, request) -> {
            if (!request.mayWait()) {
                return FileSystem.WOULD_WAIT;
            }
            waits.countDown();
            while (!request.interrupted()) {
                Thread.onSpinWait();
            }
            return -errno;
        });
        try (Dispatcher dispatcher = dispatcher(endless, false)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            exchange.ask(Opcode.LOOKUP.code(), 1234 | resent, 1, Message.NOTHING, Message.names("f2"));
            dispatcher.handle(exchange);
            waits.await();
            MemoryExchange interrupt = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            interrupt.ask(
                    Opcode.INTERRUPT, 0, new Message().int64(1234 | resent).done(), Message.NOTHING);
            dispatcher.handle(interrupt);
            exchange.awaitAnswer();
            assertThat(exchange.error).isEqualTo(-Errno.EINTR);
            assertThat(interrupt.unanswered).isTrue();
        }
    }

    @Test
    void whatWouldWaitIsLeftToTheNextProcessAndTheRestIsAnswered() throws InterruptedException {
        FileSystem slow = new FaultyFileSystem(new NullFileSystem(3, 10), (operation, request) -> {
            if (operation == Opcode.LOOKUP && !request.mayWait()) {
                return FileSystem.WOULD_WAIT;
            }
            return 0;
        });
        try (Dispatcher dispatcher = dispatcher(slow, false)) {
            MemoryExchange before = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            before.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f2"));
            dispatcher.handle(before);
            dispatcher.leaveWaiting();
            before.awaitAnswer();
            assertThat(before.answers).isEqualTo(1);
            assertThat(before.unanswered).isFalse();
            MemoryExchange after = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            after.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f2"));
            dispatcher.handle(after);
            assertThat(after.unanswered).isTrue();
            after.ask(Opcode.READ, 2, Message.transfer(0, 0, 10), Message.NOTHING);
            dispatcher.handle(after);
            assertThat(after.unanswered).isFalse();
            assertThat(after.error).isZero();
        }
        assertThat(metrics.inFlight()).isZero();
    }

    @Test
    void closingInterruptsWhatWaitsForTooLong() throws InterruptedException {
        MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
        FileSystem endless = new FaultyFileSystem(
                new NullFileSystem(3, 10),
                FaultyFileSystem.delay(Duration.ofHours(1).toNanos()));
        try (Dispatcher dispatcher = dispatcher(endless, false)) {
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f2"));
            dispatcher.handle(exchange);
            dispatcher.close(0);
            exchange.awaitAnswer();
            assertThat(exchange.error).isEqualTo(-Errno.EINTR);
        }
    }

    /** An endless operation that counts how often it began to wait. */
    private static FileSystem endless(AtomicInteger begun) {
        FaultyFileSystem.Fault hour = FaultyFileSystem.delay(Duration.ofHours(1).toNanos());
        return new FaultyFileSystem(new NullFileSystem(3, 10), (operation, request) -> {
            begun.addAndGet(request.mayWait() ? 1 : 0);
            return hour.strike(operation, request);
        });
    }

    /** The kernel sends it to the next process again, whose answer its program gets. */
    @Test
    void close_afterLeaving_leavesWhatTakesLongUnanswered() throws InterruptedException {
        AtomicInteger begun = new AtomicInteger();
        boolean[] toldBefore = {false};
        MemoryExchange exchange = lookup(Offload.SAME);
        try (Dispatcher dispatcher = dispatcher(endless(begun), false)) {
            dispatcher.handle(exchange);
            Eventually.holds("it waits", () -> begun.get() == 1);
            dispatcher.leaveWaiting(() -> toldBefore[0] = exchange.answers == 0);
            assertThat(dispatcher.close(0)).isTrue();
            exchange.awaitAnswer();
            assertThat(exchange.unanswered).isTrue();
            assertThat(exchange.answers).isEqualTo(1);
            assertThat(toldBefore[0]).isTrue();
        }
        assertThat(metrics.inFlight()).isZero();
    }

    @Test
    void close_afterLeaving_neverBeginsWhatStillWaitsForAThread() throws InterruptedException {
        AtomicInteger begun = new AtomicInteger();
        MemoryExchange first = lookup(Offload.SAME);
        MemoryExchange second = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
        second.ask(Opcode.LOOKUP.code(), 6, 1, Message.NOTHING, Message.names("f1"));
        try (Dispatcher dispatcher = new Dispatcher(
                endless(begun), exchange -> 64, metrics, new DispatchOptions(false, 1), (work, delayNanos) -> {})) {
            dispatcher.handle(first);
            dispatcher.handle(second);
            dispatcher.leaveWaiting();
            assertThat(dispatcher.close(0)).isTrue();
            second.awaitAnswer();
            assertThat(second.unanswered).isTrue();
            assertThat(begun).hasValue(1);
        }
    }

    @Test
    void aResentRequestSaysSoAndShowsItsNumberWithoutTheBit() {
        boolean[] resent = {false};
        long[] unique = {0};
        FileSystem watching = new FaultyFileSystem(new NullFileSystem(3, 10), (operation, request) -> {
            resent[0] = request.resent();
            unique[0] = request.unique();
            return 0;
        });
        try (Dispatcher dispatcher = dispatcher(watching, false)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            exchange.ask(Opcode.LOOKUP.code(), 42 | Layouts.UNIQUE_RESEND, 1, Message.NOTHING, Message.names("f1"));
            dispatcher.handle(exchange);
            assertThat(resent[0]).isTrue();
            assertThat(unique[0]).isEqualTo(42);
        }
    }

    @Test
    void whatAFileSystemThrowsIsAnInputOutputErrorAndCounted() {
        try (Dispatcher dispatcher =
                dispatcher(new FaultyFileSystem(new NullFileSystem(1, 1), FaultyFileSystem.throwing()), false)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.APART, Offload.SAME);
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f0"));
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EIO);
            assertThat(metrics.errors(Opcode.LOOKUP, Errno.EIO)).isEqualTo(1);
            assertThat(metrics.latencies(Opcode.LOOKUP).count()).isEqualTo(1);
        }
    }

    private record Found(int error, long node, long generation) {}

    private static Found look(Dispatcher dispatcher, long node, String name) {
        MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
        exchange.ask(Opcode.LOOKUP, node, Message.NOTHING, Message.names(name));
        dispatcher.handle(exchange);
        int at = exchange.replyAt();
        return new Found(
                exchange.error,
                exchange.error != 0 ? 0 : exchange.reply().getLong(at + Layouts.ENTRY_OUT_NODEID),
                exchange.error != 0 ? 0 : exchange.reply().getLong(at + Layouts.ENTRY_OUT_GENERATION));
    }

    private static void ask(Dispatcher dispatcher, Opcode opcode, long node, byte[] arguments, byte[] data) {
        MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
        exchange.ask(opcode.code(), 2, node, arguments, data);
        dispatcher.handle(exchange);
        assertThat(exchange.error).isZero();
    }

    private static void mkdir(Dispatcher dispatcher, String name) {
        ask(
                dispatcher,
                Opcode.MKDIR,
                FileSystem.ROOT,
                new Message().int32(0755).int32(0).done(),
                Message.names(name));
    }

    private static void forget(Dispatcher dispatcher, long node, long lookups) {
        ask(dispatcher, Opcode.FORGET, node, new Message().int64(lookups).done(), Message.NOTHING);
    }

    /** As the kernel asks by a file handle, when it forgot the node. */
    @Test
    void lookup_ofForgottenNode_findsThatFileAndNeverTheNextOfItsNumber() {
        try (Dispatcher dispatcher = dispatcher(new MemoryFileSystem(1 << 20), false)) {
            mkdir(dispatcher, "a");
            Found made = look(dispatcher, FileSystem.ROOT, "a");
            forget(dispatcher, made.node(), 2);
            assertThat(look(dispatcher, made.node(), ".")).isEqualTo(made);
            assertThat(look(dispatcher, made.node(), "..").node()).isEqualTo(FileSystem.ROOT);
            ask(dispatcher, Opcode.RMDIR, FileSystem.ROOT, Message.NOTHING, Message.names("a"));
            assertThat(look(dispatcher, made.node(), ".").error()).isEqualTo(-Errno.ESTALE);
            forget(dispatcher, made.node(), 1);
            mkdir(dispatcher, "b");
            Found next = look(dispatcher, made.node(), ".");
            assertThat(next.node()).as("the number is used again").isEqualTo(made.node());
            assertThat(next.generation()).isNotEqualTo(made.generation());
        }
    }

    @Test
    void link_whereThereAreNone_isNotSupported() {
        try (Dispatcher dispatcher = dispatcher(new NullFileSystem(10, 5000), false)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            exchange.ask(Opcode.LINK, FileSystem.ROOT, new Message().int64(2).done(), Message.names("link"));
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EOPNOTSUPP);
        }
    }

    @Test
    void anAnswerLargerThanItsRoomIsAnInputOutputError() {
        FileSystem boasting = new FaultyFileSystem(new NullFileSystem(1, 1), FaultyFileSystem.NO_FAULT) {
            @Override
            public int read(Request request, long node, long handle, long offset, ByteBuffer into) {
                return into.limit() + 1;
            }

            @Override
            public int lookup(Request request, long parent, Name name, Entry entry) {
                return -100_000;
            }
        };
        try (Dispatcher dispatcher = dispatcher(boasting, false)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.APART, Offload.SAME);
            exchange.ask(Opcode.READ, 2, Message.transfer(0, 0, 4096), Message.NOTHING);
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EIO);
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f0"));
            dispatcher.handle(exchange);
            assertThat(exchange.error).isEqualTo(-Errno.EIO);
        }
    }
}
