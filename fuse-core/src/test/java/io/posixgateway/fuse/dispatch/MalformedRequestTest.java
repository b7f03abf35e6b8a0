package io.posixgateway.fuse.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.dispatch.MemoryExchange.Offload;
import io.posixgateway.fuse.dispatch.MemoryExchange.Shape;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whatever bytes come, each request is answered exactly once, with an errno the kernel takes or a body that fits. EIO would
 * mean that something was thrown: the memory file system never answers it. {@code -Dpgw.fuzz.seconds=60} makes a run longer.
 */
class MalformedRequestTest {
    private static final int REQUESTS = Integer.getInteger("pgw.requests", 100_000);
    private static final long SECONDS = Long.getLong("pgw.fuzz.seconds", 0);
    private static final long SEED = Long.getLong("pgw.seed", System.nanoTime());

    @ParameterizedTest
    @EnumSource(Shape.class)
    void everyRequestIsAnsweredOnce(Shape shape) {
        Random random = new Random(SEED);
        MemoryExchange exchange = MemoryExchange.of(shape, Offload.NONE);
        Clock clock = Clock.system();
        long until = clock.nanos() + TimeUnit.SECONDS.toNanos(SECONDS);
        SessionMetrics metrics = new SessionMetrics(clock);
        try (Dispatcher dispatcher =
                new Dispatcher(new MemoryFileSystem(8 << 20), e -> 0, metrics, new DispatchOptions(false, 1))) {
            for (int i = 0; i < REQUESTS || clock.nanos() < until; i++) {
                Opcode opcode = Opcode.of(random.nextInt(Opcode.CODES));
                ask(exchange, opcode, random);
                dispatcher.handle(exchange);
                String which = "request %d (%s); again with -Dpgw.seed=%d".formatted(i, opcode, SEED);
                assertThat(exchange.answers).as(which).isEqualTo(1);
                if (opcode.answered()) {
                    assertThat(exchange.error).as(which).isBetween(-511, 0).isNotEqualTo(-Errno.EIO);
                    assertThat(exchange.bodyBytes).as(which).isBetween(0, exchange.replyCapacity());
                }
            }
        }
        assertThat(metrics.inFlight()).isZero();
    }

    private static void ask(MemoryExchange exchange, Opcode opcode, Random random) {
        int argumentBytes = random.nextInt(8) == 0 ? random.nextInt(96) : opcode.argumentBytes();
        byte[] arguments = new byte[argumentBytes];
        byte[] data = new byte[random.nextInt(300)];
        fill(arguments, random);
        fill(data, random);
        int code = random.nextInt(50) == 0 ? random.nextInt() : opcode.code();
        long node = random.nextInt(8) == 0 ? random.nextLong() : random.nextInt(6);
        exchange.ask(code, random.nextLong(), node, arguments, data);
    }

    /** Small numbers, zeros and letters come often: they get further than noise. */
    private static void fill(byte[] bytes, Random random) {
        int style = random.nextInt(4);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = switch (style) {
                case 0 -> (byte) random.nextInt();
                case 1 -> (byte) (i % 8 == 0 ? random.nextInt(4) : 0);
                case 2 -> (byte) (random.nextInt(6) == 0 ? 0 : 'a' + random.nextInt(3));
                default -> (byte) (random.nextInt(16) == 0 ? -1 : 0);
            };
        }
    }
}
