package io.posixgateway.alluxio.read;

import java.nio.ByteBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The memory of reading ahead ({@link ReadAheadWindow}, {@link ChunkMemory}, {@link BufferBudget}): each chunk's memory goes back
 * once, whoever uses it last; no memory is with two; the budget is never exceeded by what was granted.
 */
public final class ReadAheadWindowStress {
    private static final int BYTES = 64;

    private ReadAheadWindowStress() {}

    private static Chunk chunk(ReadAheadWindow window) {
        Chunk chunk = window.advance(0);
        if (chunk == null) {
            throw new IllegalStateException("no chunk");
        }
        chunk.room().put(new byte[BYTES]);
        return chunk;
    }

    /** A chunk arrives while the file is closed. */
    @JCStressTest
    @Outcome(id = "64, 0", expect = Expect.ACCEPTABLE, desc = "Its memory went back once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Its memory was lost, or went back twice.")
    @State
    public static class FetchedWhileClosed {
        private final BufferBudget budget = new BufferBudget(1 << 20);
        private final ReadAheadWindow window = new ReadAheadWindow(BYTES, 8 << 20, budget);
        private final Chunk chunk = chunk(window);

        @Actor
        public void fetched() {
            window.fetched(chunk, BYTES);
        }

        @Actor
        public void close(II_Result r) {
            r.r1 = (int) budget.usedBytes() > 0 ? BYTES : 0;
            window.close();
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = (int) budget.usedBytes();
        }
    }

    /** A chunk is copied while the file is closed. */
    @JCStressTest
    @Outcome(
            id = {"64, 0", "0, 0"},
            expect = Expect.ACCEPTABLE,
            desc = "Copied or not, its memory went back once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Its memory was lost, or went back twice.")
    @State
    public static class CopiedWhileClosed {
        private final BufferBudget budget = new BufferBudget(1 << 20);
        private final ReadAheadWindow window = new ReadAheadWindow(BYTES, 8 << 20, budget);

        public CopiedWhileClosed() {
            window.fetched(chunk(window), BYTES);
        }

        @Actor
        public void copy(II_Result r) {
            r.r1 = window.copy(0, ByteBuffer.allocate(BYTES));
        }

        @Actor
        public void close() {
            window.close();
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = (int) budget.usedBytes();
        }
    }

    /** Two use whole chunks one after the other. */
    @JCStressTest
    @Outcome(
            id = {"1, 2", "0, 2", "1, 0", "0, 0"},
            expect = Expect.ACCEPTABLE,
            desc = "Each has its own, or none.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Both have the same.")
    @State
    public static class ChunkIsWithOne {
        @Actor
        public void one(II_Result r) {
            r.r1 = use((byte) 1);
        }

        @Actor
        public void two(II_Result r) {
            r.r2 = use((byte) 2);
        }

        private static int use(byte mark) {
            ByteBuffer memory = ChunkMemory.take(ChunkMemory.CHUNK_BYTES);
            if (memory == null) {
                return 0;
            }
            for (int i = 0; i < BYTES; i++) {
                memory.put(i, mark);
            }
            int seen = mark;
            for (int i = 0; i < BYTES; i++) {
                seen = memory.get(i) == mark ? seen : -1;
            }
            ChunkMemory.give(memory);
            return seen;
        }
    }

    /** Two want most of what is left. */
    @JCStressTest
    @Outcome(
            id = {"60, 0, 60", "0, 60, 60"},
            expect = Expect.ACCEPTABLE,
            desc = "One got it.")
    @Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "Each saw the other's try: both go without.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "More was granted than there is, or the sum is wrong.")
    @State
    public static class BudgetIsKept {
        private final BufferBudget budget = new BufferBudget(100);

        @Actor
        public void one(III_Result r) {
            r.r1 = budget.take(60) ? 60 : 0;
        }

        @Actor
        public void other(III_Result r) {
            r.r2 = budget.take(60) ? 60 : 0;
        }

        @Arbiter
        public void end(III_Result r) {
            r.r3 = (int) budget.usedBytes();
        }
    }
}
