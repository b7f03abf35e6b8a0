package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Several tables that share the memory of a process. */
class CacheBudgetTest {
    private static final long LIMIT_BYTES = 8 << 20;
    private static final long SLACK_BYTES = 1 << 20;
    /** More than fill it by themselves. */
    private static final int MANY = 60_000;
    /** A quarter of it. */
    private static final int FEW = 10_000;

    private final ManualClock clock = new ManualClock();
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private final CacheBudget budget = new CacheBudget(LIMIT_BYTES, waiting::add);

    private InodeTable table() {
        return new InodeTable(
                "/", 0, Integer.MAX_VALUE, new MemoryAccounting(Long.MAX_VALUE, budget), NameCodec.ESCAPED, clock);
    }

    private void balance() {
        while (!waiting.isEmpty()) {
            waiting.remove().run();
        }
    }

    private Inode find(InodeTable table, int file) {
        Inode inode = table.of(file + 1L, false);
        table.attach(table.root(), Name.of("file-" + file), inode, clock.nanos());
        return inode;
    }

    /** As a listing does: the kernel hears of none. */
    private void fill(InodeTable table, int files) {
        for (int i = 0; i < files; i++) {
            find(table, i);
            balance();
        }
    }

    private static long sum(InodeTable... tables) {
        return List.of(tables).stream().mapToLong(InodeTable::estimatedBytes).sum();
    }

    @Test
    void fill_ofThreeVolumesThatEachFillTheBudget_staysWithinIt() {
        InodeTable first = table();
        InodeTable second = table();
        InodeTable third = table();
        for (InodeTable table : List.of(first, second, third)) {
            fill(table, MANY);
            assertThat(sum(first, second, third)).isLessThan(LIMIT_BYTES + SLACK_BYTES);
        }
        assertThat(budget.usedBytes())
                .isCloseTo(sum(first, second, third), org.assertj.core.data.Offset.offset(SLACK_BYTES));
    }

    /** Where nobody balances, as the thread is late, whoever grows makes room. */
    @Test
    void fill_whileNobodyBalances_staysWithinTheBudget() {
        InodeTable first = table();
        InodeTable second = table();
        for (InodeTable table : List.of(first, second)) {
            for (int i = 0; i < MANY; i++) {
                find(table, i);
            }
        }
        assertThat(sum(first, second)).isLessThan(LIMIT_BYTES + SLACK_BYTES);
    }

    @Test
    void fill_evictsWhatWasUnusedLongest() {
        InodeTable old = table();
        InodeTable young = table();
        fill(old, 2 * FEW);
        clock.advance(Duration.ofMinutes(1));
        fill(young, 2 * FEW);
        clock.advance(Duration.ofMinutes(1));
        fill(table(), FEW);
        assertThat(old.size()).isLessThan(FEW * 16 / 10);
        assertThat(young.size()).isGreaterThan(FEW * 18 / 10);
    }

    /** A scan of one volume does not cost the others what they hold within their share. */
    @Test
    void fill_ofOneVolume_leavesAnotherItsShareHoweverOld() {
        InodeTable quiet = table();
        fill(quiet, FEW);
        clock.advance(Duration.ofHours(1));
        InodeTable scanned = table();
        fill(scanned, MANY);
        assertThat(quiet.size()).isGreaterThan(FEW);
        assertThat(sum(quiet, scanned)).isLessThan(LIMIT_BYTES + SLACK_BYTES);
    }

    @Test
    void fill_ofOneVolumeAlone_takesWhatOthersDoNotUse() {
        table();
        table();
        InodeTable used = table();
        fill(used, MANY);
        assertThat(used.estimatedBytes()).isGreaterThan(LIMIT_BYTES * 8 / 10);
    }

    /** What the kernel knows is evicted when it forgets it, and it is asked to, in the volume that has too much. */
    @Test
    void lookUp_ofMoreThanTheBudget_hasTheKernelForgetFilesOfThatVolume() {
        InodeTable quiet = table();
        fill(quiet, FEW / 2);
        InodeTable hog = table();
        boolean[] asked = new boolean[1];
        hog.pruneCandidates().whenThere(() -> asked[0] = true);
        quiet.pruneCandidates().whenThere(() -> {
            throw new AssertionError("it has its share");
        });
        for (int i = 0; i < MANY; i++) {
            hog.lookedUp(find(hog, i));
            balance();
            if (asked[0]) {
                hog.pruneCandidates().some(1000).forEach(each -> hog.forget(each.node(), Long.MAX_VALUE));
                asked[0] = false;
            }
        }
        assertThat(sum(quiet, hog)).isLessThan(LIMIT_BYTES + SLACK_BYTES);
        assertThat(quiet.size()).isGreaterThan(FEW / 2);
        assertThat(hog.estimatedBytes()).isGreaterThan(LIMIT_BYTES / 2);
    }

    /** They come without a node. */
    @Test
    void balance_countsNamesThatAreMissing() {
        InodeTable table = table();
        for (int i = 0; i < FEW - 1; i++) {
            table.taken(table.root(), Name.of("missing-" + i), clock.nanos());
        }
        assertThat(table.estimatedBytes()).isGreaterThan(SLACK_BYTES);
        budget.balance();
        assertThat(table.estimatedBytes() - budget.usedBytes()).isLessThan(MemoryAccounting.STEP_BYTES);
    }

    @Test
    void close_ofAVolume_leavesItsMemoryToTheOthers() {
        InodeTable first = table();
        InodeTable second = table();
        fill(first, MANY);
        first.close();
        assertThat(budget.usedBytes()).isLessThan(SLACK_BYTES);
        fill(second, MANY);
        assertThat(second.estimatedBytes()).isGreaterThan(LIMIT_BYTES * 8 / 10);
    }

    @Test
    void shrink_givesAQuarterBackAndGrowAllowsItAgain() {
        InodeTable table = table();
        fill(table, MANY);
        long before = table.estimatedBytes();
        budget.shrink();
        assertThat(table.estimatedBytes()).isLessThan(before * 8 / 10);
        fill(table, MANY);
        assertThat(table.estimatedBytes()).isLessThan(before * 8 / 10);
        while (!budget.isSpent()) {
            budget.shrink();
        }
        assertThat(budget.limitBytes()).isPositive();
        for (int i = 0; i < 20; i++) {
            budget.grow();
        }
        assertThat(budget.limitBytes()).isEqualTo(LIMIT_BYTES);
    }
}
