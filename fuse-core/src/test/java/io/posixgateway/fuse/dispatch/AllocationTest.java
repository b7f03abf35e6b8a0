package io.posixgateway.fuse.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.posixgateway.fuse.dispatch.MemoryExchange.HandOver;
import io.posixgateway.fuse.dispatch.MemoryExchange.Shape;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.testing.NullFileSystem;
import io.posixgateway.fuse.wire.Opcode;
import java.lang.management.ManagementFactory;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is answered at once allocates nothing: counted by the JVM, per thread. */
class AllocationTest {
    private static final int WARM_UP = 20_000;
    private static final int COUNTED = 50_000;
    /** Less than one object in a thousand requests: what the JVM itself may do on this thread. */
    private static final long ALLOWED_BYTES = 16 * COUNTED / 1000;

    @SuppressWarnings("ArrayRecordComponent")
    private record Case(String name, FileSystem fileSystem, Shape shape, Opcode opcode, byte[] arguments, byte[] data) {
        @Override
        public String toString() {
            return name + " " + shape + " " + opcode;
        }
    }

    static Stream<Case> cases() {
        return Stream.of(Shape.values())
                .flatMap(shape ->
                        Stream.concat(hits("null", new NullFileSystem(10, 1 << 20), shape, "f0"), memoryHits(shape)));
    }

    private static Stream<Case> hits(String name, FileSystem fileSystem, Shape shape, String file) {
        byte[] handle = new Message().int64(0).int64(0).int64(0).done();
        return Stream.of(
                new Case(name, fileSystem, shape, Opcode.LOOKUP, Message.NOTHING, Message.names(file)),
                new Case(name, fileSystem, shape, Opcode.GETATTR, new byte[16], Message.NOTHING),
                new Case(name, fileSystem, shape, Opcode.OPEN, new byte[8], Message.NOTHING),
                new Case(name, fileSystem, shape, Opcode.READ, Message.transfer(0, 4096, 1 << 16), Message.NOTHING),
                new Case(name, fileSystem, shape, Opcode.WRITE, Message.transfer(0, 0, 4096), new byte[4096]),
                new Case(name, fileSystem, shape, Opcode.RELEASE, handle, Message.NOTHING));
    }

    /** The same on a file of the memory file system; its writes take the time, which the JIT alone makes free. */
    private static Stream<Case> memoryHits(Shape shape) {
        MemoryFileSystem fileSystem = new MemoryFileSystem(64 << 20);
        try (Dispatcher dispatcher = dispatcher(fileSystem)) {
            MemoryExchange exchange = MemoryExchange.of(shape, HandOver.NONE);
            byte[] create = new Message().int32(0).int32(0644).int32(0).int32(0).done();
            exchange.ask(Opcode.CREATE, 1, create, Message.names("file"));
            dispatcher.handle(exchange);
            exchange.ask(Opcode.WRITE, 2, Message.transfer(0, 0, 1 << 17), new byte[1 << 17]);
            dispatcher.handle(exchange);
        }
        return hits("memory", fileSystem, shape, "file").filter(hit -> hit.opcode != Opcode.WRITE);
    }

    private static Dispatcher dispatcher(FileSystem fileSystem) {
        return new Dispatcher(fileSystem, e -> 0, new SessionMetrics(), new DispatchOptions(false, 1));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void aHitAllocatesNothing(Case hit) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long me = Thread.currentThread().getId();
        MemoryExchange exchange = MemoryExchange.of(hit.shape, HandOver.NONE);
        try (Dispatcher dispatcher = dispatcher(hit.fileSystem)) {
            exchange.ask(hit.opcode, hit.opcode == Opcode.LOOKUP ? 1 : 2, hit.arguments, hit.data);
            for (int i = 0; i < WARM_UP; i++) {
                again(dispatcher, exchange, hit);
            }
            long before = threads.getThreadAllocatedBytes(me);
            for (int i = 0; i < COUNTED; i++) {
                again(dispatcher, exchange, hit);
            }
            long bytes = threads.getThreadAllocatedBytes(me) - before;
            assertThat(exchange.error).isZero();
            assertThat(bytes).as("bytes for %d requests", COUNTED).isLessThan(ALLOWED_BYTES);
        }
    }

    /** The reply may have overwritten the name, and a new message would be made on the heap. */
    private static void again(Dispatcher dispatcher, MemoryExchange exchange, Case hit) {
        exchange.payload().put(exchange.payloadAt(hit.arguments.length), hit.data);
        dispatcher.handle(exchange);
    }
}
