package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.spi.Name;
import java.nio.charset.StandardCharsets;
import java.util.stream.LongStream;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The open-addressing tables {@link LongMap}, {@link InodeMap} and {@link Dentries}, and the {@link IdleList}: an entry
 * that stays is found at any time, while removals close gaps and additions enlarge the table; one of two adders wins.
 */
public final class TablesStress {
    /** Keys of one stripe with one home place, so that a removal moves the others. */
    private static final long[] CLASHING = keysLikeThree(15, 4);
    /** Keys of one stripe: the ninth enlarges a {@link LongMap}, the thirteenth a {@link InodeMap}. */
    private static final long[] ONE_STRIPE = keysLikeThree(0, 13);

    private static final byte[][] CLASHING_NAMES = clashingNames();

    private TablesStress() {}

    /** @param mask of the bits of the home place that are to be the same */
    private static long[] keysLikeThree(int mask, int count) {
        return LongStream.range(3, 1 << 22)
                .filter(key -> mix(key) >>> 59 == mix(3) >>> 59)
                .filter(key -> ((mix(key) ^ mix(3)) >>> 20 & mask) == 0)
                .limit(count)
                .toArray();
    }

    private static long mix(long key) {
        return key * 0x9E3779B97F4A7C15L;
    }

    private static byte[][] clashingNames() {
        return LongStream.range(0, 1 << 16)
                .mapToObj(number -> Long.toString(number).getBytes(StandardCharsets.UTF_8))
                .filter(name -> ((Name.hashOf(name) * 0x9E3779B9) >>> 7 & 3) == 1)
                .limit(3)
                .toArray(byte[][]::new);
    }

    private static Inode node(long node) {
        return new Inode(node, InodeTable.fileIdOf(node), false, new MemoryAccounting(1));
    }

    /** A removal closes its gap while another key is looked for. */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Found.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A key that stays was missed.")
    @State
    public static class LongMapFindsBesideRemoval {
        private final LongMap<Integer> table = new LongMap<>();

        public LongMapFindsBesideRemoval() {
            for (int i = 0; i < CLASHING.length; i++) {
                table.put(CLASHING[i], i);
            }
        }

        @Actor
        public void remove() {
            table.remove(CLASHING[0]);
        }

        @Actor
        public void find(I_Result r) {
            Integer found = table.get(CLASHING[3]);
            r.r1 = found == null ? 0 : found == 3 ? 1 : 2;
        }
    }

    /** An addition enlarges the table while a key is looked for. */
    @JCStressTest
    @Outcome(id = "1, 9", expect = Expect.ACCEPTABLE, desc = "Found.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A key that stays was missed, or one was lost.")
    @State
    public static class LongMapFindsBesideGrowth {
        private final LongMap<Integer> table = new LongMap<>();

        public LongMapFindsBesideGrowth() {
            for (int i = 0; i < 8; i++) {
                table.put(ONE_STRIPE[i], i);
            }
        }

        @Actor
        public void add() {
            table.put(ONE_STRIPE[8], 8);
        }

        @Actor
        public void find(II_Result r) {
            Integer found = table.get(ONE_STRIPE[5]);
            r.r1 = found == null ? 0 : found == 5 ? 1 : 2;
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = table.all().size();
        }
    }

    /** Two add under one key, and each counts one under a key of his own. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 3", "0, 1, 3"},
            expect = Expect.ACCEPTABLE,
            desc = "One won; all are counted.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Both won, or the count is wrong.")
    @State
    public static class LongMapOneWins {
        private final LongMap<Integer> table = new LongMap<>();

        @Actor
        public void one(III_Result r) {
            r.r1 = table.putIfAbsent(ONE_STRIPE[0], 1) == null ? 1 : 0;
            table.put(ONE_STRIPE[1], 1);
        }

        @Actor
        public void other(III_Result r) {
            r.r2 = table.putIfAbsent(ONE_STRIPE[0], 2) == null ? 1 : 0;
            table.put(ONE_STRIPE[2], 1);
        }

        @Arbiter
        public void end(III_Result r) {
            r.r3 = table.size();
        }
    }

    /** A removal closes its gap while another node is looked for. */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Found.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A node that stays was missed.")
    @State
    public static class InodeMapFindsBesideRemoval {
        private final InodeMap table = new InodeMap();

        public InodeMapFindsBesideRemoval() {
            for (long key : CLASHING) {
                table.putIfAbsent(node(key));
            }
        }

        @Actor
        public void remove() {
            table.remove(CLASHING[0]);
        }

        @Actor
        public void find(I_Result r) {
            Inode found = table.get(CLASHING[3]);
            r.r1 = found == null ? 0 : found.node() == CLASHING[3] ? 1 : 2;
        }
    }

    /** Two add one node each, the same; the table grows meanwhile. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 13", "0, 1, 13"},
            expect = Expect.ACCEPTABLE,
            desc = "One won; all are there.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Both won, or one was lost.")
    @State
    public static class InodeMapOneWins {
        private final InodeMap table = new InodeMap();

        public InodeMapOneWins() {
            for (int i = 0; i < 12; i++) {
                table.putIfAbsent(node(ONE_STRIPE[i]));
            }
        }

        @Actor
        public void one(III_Result r) {
            r.r1 = table.putIfAbsent(node(ONE_STRIPE[12])) == null ? 1 : 0;
        }

        @Actor
        public void other(III_Result r) {
            r.r2 = table.putIfAbsent(node(ONE_STRIPE[12])) == null ? 1 : 0;
        }

        @Arbiter
        public void end(III_Result r) {
            for (long key : ONE_STRIPE) {
                r.r3 += table.get(key) != null ? 1 : 0;
            }
        }
    }

    /** A name is taken out, which moves the others, while one of them is looked for. */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Found.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A name that stays was missed.")
    @State
    public static class DentriesFindBesideRemoval {
        private final Dentries names = new Dentries(new MemoryAccounting(1));
        private final Inode[] children = {node(3), node(4), node(5)};
        private final Name last = Name.of(CLASHING_NAMES[2]);

        public DentriesFindBesideRemoval() {
            for (int i = 0; i < children.length; i++) {
                children[i].name = CLASHING_NAMES[i];
                names.put(children[i], 1);
            }
        }

        @Actor
        public void remove() {
            names.remove(children[0], true);
        }

        @Actor
        public void find(I_Result r) {
            Dentries.Dentry found = names.find(last);
            r.r1 = found == null ? 0 : found.child() == children[2] ? 1 : 2;
        }
    }

    /** Two add, and take out, idle inodes. */
    @JCStressTest
    @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "Each came out once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "One was lost, or came out twice.")
    @State
    public static class IdleListLosesNone {
        private final IdleList queue = new IdleList();
        private final Inode[] inodes = {node(3), node(4)};
        private final Inode[] out = new Inode[2];

        @Actor
        public void one() {
            queue.add(inodes[0], 0);
            out[0] = queue.poll(0);
        }

        @Actor
        public void other() {
            queue.add(inodes[1], 2_000_000_000L);
            out[1] = queue.poll(0);
        }

        @Arbiter
        public void end(II_Result r) {
            r.r1 = (out[0] == null ? 0 : 1) + (out[1] == null ? 0 : 1);
            r.r2 = out[0] == out[1] || queue.poll(0) != null ? 1 : 2;
        }
    }
}
