package io.posixgateway.fuse.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.dispatch.MemoryExchange.Offload;
import io.posixgateway.fuse.dispatch.MemoryExchange.Shape;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.testing.FaultyFileSystem;
import io.posixgateway.fuse.testing.NullFileSystem;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What can be seen of requests from outside. */
class ObservabilityTest {
    private final SessionMetrics metrics = new SessionMetrics(Clock.system());

    private Dispatcher dispatcher(FileSystem fileSystem) {
        return new Dispatcher(fileSystem, exchange -> 64, metrics, new DispatchOptions(false, 2, "vol"));
    }

    /** Every call is one to a remote that never answers. */
    private static FileSystem hanging(CountDownLatch inside, AtomicReference<String> about) {
        return new FaultyFileSystem(new NullFileSystem(3, 10), (operation, request) -> {
            if (!request.mayWait()) {
                return FileSystem.WOULD_WAIT;
            }
            RemoteCalls remote = RemoteCalls.ofThread();
            about.set(remote.about());
            remote.begin();
            inside.countDown();
            try {
                new CountDownLatch(1).await();
                return 0;
            } catch (InterruptedException e) {
                return -Errno.EINTR;
            } finally {
                remote.end();
            }
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Offload.class,
            names = {"SAME", "COPY"})
    void aCallThatHangsIsSeenWithItsThreadAndCanBeInterrupted(Offload offload) throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        AtomicReference<String> about = new AtomicReference<>("");
        try (Dispatcher dispatcher = dispatcher(hanging(inside, about))) {
            MemoryExchange exchange = MemoryExchange.of(Shape.APART, offload);
            exchange.ask(Opcode.LOOKUP.code(), 99, 1, Message.NOTHING, Message.names("f2"));
            Thread transport = new Thread(() -> dispatcher.handle(exchange));
            transport.start();
            inside.await();
            assertThat(dispatcher.inFlight(Long.MAX_VALUE)).isEmpty();
            assertThat(dispatcher.inFlight(0)).singleElement().satisfies(seen -> {
                assertThat(seen.unique()).isEqualTo(99);
                assertThat(seen.opcode()).isEqualTo(Opcode.LOOKUP);
                assertThat(seen.node()).isEqualTo(1);
                assertThat(seen.pid()).isEqualTo(77);
                assertThat(seen.remoteNanos()).isPositive();
                assertThat(seen.thread()).isNotNull();
            });
            assertThat(about.get()).isEqualTo("vol #99");
            assertThat(dispatcher.interruptRemote(98, 0)).isFalse();
            assertThat(dispatcher.interruptRemote(99, Long.MAX_VALUE)).isFalse();
            assertThat(dispatcher.interruptRemote(99, 0)).isTrue();
            transport.join();
            exchange.awaitAnswer();
            assertThat(exchange.error).isEqualTo(-Errno.EINTR);
            assertThat(dispatcher.inFlight(0)).isEmpty();
            assertThat(metrics.remoteNanos(Opcode.LOOKUP)).isPositive();
            assertThat(metrics.queued()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Shape.class)
    void whoListensIsToldOfEachRequestWithItsArguments(Shape shape) {
        List<RequestRecord> told = new ArrayList<>();
        try (Dispatcher dispatcher = dispatcher(new NullFileSystem(10, 5000))) {
            MemoryExchange exchange = MemoryExchange.of(shape, Offload.SAME);
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f1"));
            dispatcher.handle(exchange);
            dispatcher.listen(told::add);
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f1"));
            dispatcher.handle(exchange);
            exchange.ask(Opcode.READ, 2, Message.transfer(0, 4990, 4096), Message.NOTHING);
            dispatcher.handle(exchange);
            exchange.ask(4711, 2, 1, Message.NOTHING, Message.NOTHING);
            dispatcher.handle(exchange);
            dispatcher.listen(null);
            dispatcher.handle(exchange);
        }
        assertThat(told).hasSize(3);
        assertThat(told.get(0).name()).isEqualTo("f1");
        assertThat(told.get(0).uid()).isEqualTo(1000);
        assertThat(told.get(1).opcode()).isEqualTo(Opcode.READ);
        assertThat(told.get(1).offset()).isEqualTo(4990);
        assertThat(told.get(1).bytes()).isEqualTo(4096);
        assertThat(told.get(1).result()).isEqualTo(10);
        assertThat(told.get(2).result()).isEqualTo(-Errno.ENOSYS);
        assertThat(told.get(2).offset()).isEqualTo(-1);
    }

    @Test
    void anOutOfMemoryErrorReachesTheHandlerOfTheThread() throws InterruptedException {
        FileSystem greedy = new FaultyFileSystem(new NullFileSystem(1, 1), (operation, request) -> {
            throw new OutOfMemoryError("Direct buffer memory");
        });
        AtomicReference<Throwable> handled = new AtomicReference<>();
        MemoryExchange exchange = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
        try (Dispatcher dispatcher = dispatcher(greedy)) {
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f0"));
            Thread thread = new Thread(() -> dispatcher.handle(exchange));
            thread.setUncaughtExceptionHandler((where, failure) -> handled.set(failure));
            thread.start();
            thread.join();
        }
        assertThat(handled.get()).isInstanceOf(OutOfMemoryError.class);
        assertThat(exchange.error).isEqualTo(-Errno.EIO);
    }

    /** It would wait for ever, and the thread would be gone. */
    @ParameterizedTest
    @EnumSource(Shape.class)
    void aRequestIsAnsweredThoughWhoListensFails(Shape shape) {
        try (Dispatcher dispatcher = dispatcher(new NullFileSystem(10, 5000))) {
            MemoryExchange exchange = MemoryExchange.of(shape, Offload.SAME);
            dispatcher.listen(record -> {
                throw new LinkageError("nobody expects this");
            });
            exchange.ask(Opcode.LOOKUP, 1, Message.NOTHING, Message.names("f1"));
            dispatcher.handle(exchange);
            assertThat(exchange.answers).isEqualTo(1);
            assertThat(exchange.error).isZero();
        }
    }
}
