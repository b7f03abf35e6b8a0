package io.posixgateway.fuse.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.posixgateway.fuse.dispatch.MemoryExchange.Shape;
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

    /** Writes of the memory file system take the time, which the JIT alone makes free. */
    static Stream<Hit> hits() {
        return Stream.of(Shape.values())
                .flatMap(shape -> Stream.concat(
                        Hit.opcodes().map(opcode -> Hit.onNull(shape, opcode)),
                        Hit.opcodes()
                                .filter(opcode -> opcode != Opcode.WRITE)
                                .map(opcode -> Hit.onMemory(shape, opcode))));
    }

    @ParameterizedTest
    @MethodSource("hits")
    void aHitAllocatesNothing(Hit hit) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long me = Thread.currentThread().getId();
        try (hit) {
            for (int i = 0; i < WARM_UP; i++) {
                hit.again();
            }
            long before = threads.getThreadAllocatedBytes(me);
            int errors = 0;
            for (int i = 0; i < COUNTED; i++) {
                errors |= hit.again();
            }
            long bytes = threads.getThreadAllocatedBytes(me) - before;
            assertThat(errors).isZero();
            assertThat(bytes).as("bytes for %d requests", COUNTED).isLessThan(ALLOWED_BYTES);
        }
    }
}
