package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnreportedAccessesTest {
    private static final int FILES = 15_000;
    private static final int BLOCKS_BITS = 24;

    private final UnreportedAccesses blocks = new UnreportedAccesses();

    private static long block(int number) {
        return (long) number << BLOCKS_BITS;
    }

    private void addEach(int most) {
        for (int i = 1; i <= most; i++) {
            blocks.add(block(i));
        }
    }

    @Test
    void eachIsTakenOnce() {
        addEach(FILES);
        addEach(FILES);
        assertThat(blocks.takeAll()).hasSize(FILES).doesNotHaveDuplicates();
        assertThat(blocks.takeAll()).isEmpty();
    }

    @Test
    void thereAreNoMoreThanThereIsRoomFor() {
        addEach(4 * UnreportedAccesses.MAX);
        assertThat(blocks.takeAll().size()).isBetween(UnreportedAccesses.MAX / 2, UnreportedAccesses.MAX);
        addEach(FILES);
        assertThat(blocks.takeAll()).hasSize(FILES);
    }

    @Test
    void noneIsLostWhileAllAreTaken() throws InterruptedException {
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Thread reader = new Thread(() -> addEach(FILES), "reader-" + i);
            reader.start();
            readers.add(reader);
        }
        Set<Long> taken = new HashSet<>();
        while (readers.stream().anyMatch(Thread::isAlive)) {
            taken.addAll(blocks.takeAll());
        }
        for (Thread reader : readers) {
            reader.join();
        }
        taken.addAll(blocks.takeAll());
        assertThat(taken).hasSize(FILES);
    }
}
