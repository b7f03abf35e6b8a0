package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The ranges of a spool file that hold nothing. */
class HolesTest {
    private static final int BLOCK = 4096;
    private static final int BLOCKS = 200;

    private final Holes holes = new Holes();
    private final BitSet model = new BitSet(BLOCKS);

    private void assertAsModel(String what) {
        assertThat(holes.bytes()).as(what).isEqualTo((long) model.cardinality() * BLOCK);
        for (int block = 0; block < BLOCKS; block++) {
            int end = model.get(block) ? model.nextClearBit(block) : block;
            assertThat(holes.endAt((long) block * BLOCK))
                    .as(what + ", block " + block)
                    .isEqualTo((long) end * BLOCK);
            int begin = model.nextSetBit(block);
            boolean beginsHere = begin == block && block > 0 && model.get(block - 1);
            if (!beginsHere) {
                assertThat(holes.beginBehind((long) block * BLOCK, BLOCKS * BLOCK))
                        .as(what + ", block " + block)
                        .isEqualTo((begin < 0 ? BLOCKS : begin) * (long) BLOCK);
            }
        }
    }

    @Test
    void random_changes_agree_with_a_map_of_blocks() {
        long seed = 7;
        Random random = new Random(seed);
        for (int i = 0; i < 5000; i++) {
            int from = random.nextInt(BLOCKS * BLOCK);
            int to = from + random.nextInt(BLOCKS * BLOCK - from + 1) / (1 + random.nextInt(20));
            String what = "seed " + seed + ", change " + i + " of " + from + " to " + to;
            int kind = random.nextInt(8);
            if (kind < 4) {
                BitSet before = (BitSet) model.clone();
                holes(from, to, true);
                assertThat(holes.add(from, to))
                        .as(what)
                        .isEqualTo((long) (model.cardinality() - before.cardinality()) * BLOCK);
            } else if (kind < 7) {
                int before = model.cardinality();
                holes(from, to, false);
                assertThat(holes.filledBy(from, to)).as(what).isEqualTo((long) (before - model.cardinality()) * BLOCK);
                holes.fill(from, to);
            } else {
                model.clear(from / BLOCK, BLOCKS);
                holes.cut(from);
            }
            assertAsModel(what);
        }
    }

    /** Whole blocks become holes; of held ones a byte is enough. */
    private void holes(int from, int to, boolean hole) {
        int first = hole ? (from + BLOCK - 1) / BLOCK : from / BLOCK;
        int end = hole ? to / BLOCK : (to + BLOCK - 1) / BLOCK;
        if (from < to && first < end) {
            model.set(first, end, hole);
        }
    }

    @Test
    void beyondTheMostHoles_whatIsWrittenInTheMiddleOfOne_isHeldFromItsBeginningOn() {
        long stride = 3L * BLOCK;
        for (int i = 0; i < Holes.MAX; i++) {
            holes.add(i * stride, i * stride + BLOCK);
        }
        long last = Holes.MAX * stride;
        holes.add(last, last + 100L * BLOCK);
        long before = holes.bytes();
        long middle = last + 50L * BLOCK;
        assertThat(holes.filledBy(middle, middle + 1)).isEqualTo(51L * BLOCK);
        holes.fill(middle, middle + 1);
        assertThat(holes.bytes()).isEqualTo(before - 51L * BLOCK);
    }
}
