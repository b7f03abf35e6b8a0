package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.dispatch.MemoryExchange.Shape;
import io.posixgateway.fuse.wire.Opcode;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What the Java side of a request that is answered at once costs: from the raw message to the raw reply. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HitBench {
    @Param({"LOOKUP", "GETATTR", "OPEN", "READ", "WRITE", "RELEASE"})
    String request = "";

    @Param({"CONTIGUOUS", "APART"})
    String shape = "";

    @Param({"null", "memory"})
    String files = "";

    private Hit hit = Hit.onNull(Shape.APART, Opcode.GETATTR);

    @Setup
    public void begin() {
        hit.close();
        Opcode opcode = Opcode.valueOf(request);
        Shape how = Shape.valueOf(shape);
        hit = files.equals("null") ? Hit.onNull(how, opcode) : Hit.onMemory(how, opcode);
    }

    @TearDown
    public void end() {
        hit.close();
    }

    @Benchmark
    public int request() {
        return hit.again();
    }
}
