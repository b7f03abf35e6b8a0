package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.dispatch.MemoryExchange.Offload;
import io.posixgateway.fuse.dispatch.MemoryExchange.Shape;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.testing.NullFileSystem;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import java.util.stream.Stream;

/** A request that is answered at once, again and again. One thread. */
final class Hit implements AutoCloseable {
    private static final int FILE_BYTES = 1 << 17;

    private final String name;
    private final Shape shape;
    private final Opcode opcode;
    private final byte[] arguments;
    private final byte[] data;
    private final Dispatcher dispatcher;
    private final MemoryExchange exchange;

    private Hit(FileSystem fileSystem, String file, Shape shape, Opcode opcode) {
        this.name = fileSystem.getClass().getSimpleName() + " " + shape + " " + opcode;
        this.shape = shape;
        this.opcode = opcode;
        this.arguments = arguments(opcode);
        this.data = data(opcode, file);
        this.dispatcher =
                new Dispatcher(fileSystem, e -> 0, new SessionMetrics(Clock.system()), new DispatchOptions(false, 1));
        this.exchange = MemoryExchange.of(shape, Offload.NONE);
    }

    /** Which there are. */
    static Stream<Opcode> opcodes() {
        return Stream.of(Opcode.LOOKUP, Opcode.GETATTR, Opcode.OPEN, Opcode.READ, Opcode.WRITE, Opcode.RELEASE);
    }

    /** On a file of the null file system. */
    static Hit onNull(Shape shape, Opcode opcode) {
        return new Hit(new NullFileSystem(10, 1 << 20), "f0", shape, opcode).begun();
    }

    /** On a file of the memory file system. */
    static Hit onMemory(Shape shape, Opcode opcode) {
        Hit hit = new Hit(new MemoryFileSystem(64 << 20), "file", shape, opcode);
        byte[] create = new Message().int32(0).int32(0644).int32(0).int32(0).done();
        hit.exchange.ask(Opcode.CREATE, 1, create, Message.names("file"));
        hit.dispatcher.handle(hit.exchange);
        hit.exchange.ask(Opcode.WRITE, 2, Message.transfer(0, 0, FILE_BYTES), new byte[FILE_BYTES]);
        hit.dispatcher.handle(hit.exchange);
        return hit.begun();
    }

    private Hit begun() {
        exchange.ask(opcode, opcode == Opcode.LOOKUP ? 1 : 2, arguments, data);
        return this;
    }

    private static byte[] arguments(Opcode opcode) {
        return switch (opcode) {
            case GETATTR -> new byte[16];
            case OPEN -> new byte[8];
            case READ -> Message.transfer(0, 4096, 1 << 16);
            case WRITE -> Message.transfer(0, 0, 4096);
            case RELEASE -> new Message().int64(0).int64(0).int64(0).done();
            default -> Message.NOTHING;
        };
    }

    private static byte[] data(Opcode opcode, String file) {
        return switch (opcode) {
            case LOOKUP -> Message.names(file);
            case WRITE -> new byte[4096];
            default -> Message.NOTHING;
        };
    }

    /** Once more; the errno. The reply may have overwritten the name, and a new message would be made on the heap. */
    int again() {
        exchange.payload().put(exchange.payloadAt(arguments.length), data);
        dispatcher.handle(exchange);
        return exchange.error;
    }

    Shape shape() {
        return shape;
    }

    @Override
    public String toString() {
        return name;
    }

    @Override
    public void close() {
        dispatcher.close();
    }
}
