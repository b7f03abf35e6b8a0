package io.posixgateway.fuse.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.dispatch.MemoryExchange.Offload;
import io.posixgateway.fuse.dispatch.MemoryExchange.Shape;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.testing.FaultyFileSystem;
import io.posixgateway.fuse.testing.FaultyFileSystem.Fault;
import io.posixgateway.fuse.testing.NullFileSystem;
import io.posixgateway.fuse.time.FaultyClock;
import io.posixgateway.fuse.wire.Opcode;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is thrown where nothing is to throw: each request is answered once all the same, and handling it throws nothing. */
class UnforeseenFailureTest {
    private static final String POOL = "fuse-pool";
    /** More often the clock is not read for a request. */
    private static final int READINGS = 6;

    private static final Fault WAITS = (operation, request) -> request.mayWait() ? 0 : FileSystem.WOULD_WAIT;

    private final FaultyClock clock = new FaultyClock();
    private final SessionMetrics metrics = new SessionMetrics(clock);

    private Dispatcher dispatcher(Fault fault) {
        return new Dispatcher(
                new FaultyFileSystem(new NullFileSystem(10, 5000), fault),
                exchange -> 64,
                metrics,
                new DispatchOptions(false, 4));
    }

    /** Handles a lookup; its error. */
    private int answer(Fault fault, Offload offload) throws InterruptedException {
        MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, offload);
        int others;
        try (Dispatcher dispatcher = dispatcher(fault)) {
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f7"));
            dispatcher.handle(exchange);
            others = exchange.answers;
            exchange.awaitAnswer();
            clock.endFaults();
        }
        MemoryExchange by = exchange.answeredBy();
        assertThat(by == exchange ? by.answers : others + by.answers)
                .as("answers")
                .isEqualTo(1);
        return by.error;
    }

    @ParameterizedTest
    @EnumSource(
            value = Offload.class,
            names = {"SAME", "COPY"})
    void aFaultOnTheTransportsThread_isEioAndOneAnswer(Offload offload) throws InterruptedException {
        for (Fault fault : new Fault[] {FaultyFileSystem.NO_FAULT, WAITS}) {
            Set<Integer> errors = new TreeSet<>();
            for (int reading = 0; reading < READINGS; reading++) {
                clock.fail(Thread.currentThread().getName(), reading, 1);
                errors.add(answer(fault, offload));
            }
            assertThat(errors).containsExactly(-Errno.EIO, 0);
        }
    }

    /** The pool reads it first. */
    @ParameterizedTest
    @EnumSource(names = {"SAME", "COPY"})
    void aFaultOnThePoolsThread_isEioAndOneAnswer(Offload offload) throws InterruptedException {
        Set<Integer> errors = new TreeSet<>();
        for (int reading = 1; reading < READINGS; reading++) {
            clock.fail(POOL, reading, 1);
            errors.add(answer(WAITS, offload));
        }
        assertThat(errors).containsExactly(-Errno.EIO, 0);
    }

    @Test
    void aFailureThatCannotBeDescribed_isEio() {
        Fault undescribed = (operation, request) -> {
            throw new Undescribed();
        };
        try (Dispatcher dispatcher = dispatcher(undescribed)) {
            for (int i = 0; i < 2; i++) {
                MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
                exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f7"));
                dispatcher.handle(exchange);
                assertThat(exchange.error).isEqualTo(-Errno.EIO);
                assertThat(exchange.answers).isEqualTo(1);
            }
        }
    }

    @Test
    void aRequestWithoutAnswer_getsNone() {
        try (Dispatcher dispatcher = dispatcher(FaultyFileSystem.NO_FAULT)) {
            MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
            exchange.ask(Opcode.FORGET, 2, new Message().int64(1).done(), Message.NOTHING);
            clock.fail(Thread.currentThread().getName(), 0, 1);
            dispatcher.handle(exchange);
            assertThat(exchange.unanswered).isTrue();
            assertThat(exchange.answers).isEqualTo(1);
        }
    }

    /** Whatever logs it fails, too. */
    private static final class Undescribed extends Error {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new StackOverflowError("thrown on purpose by a description");
        }
    }
}
