package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Windows of several volumes. */
class ReadMemoryTest {
    private static final long TOTAL = 400;
    private static final int CHUNK = 10;

    private final ReadMemory memory = new ReadMemory(TOTAL);

    private static long takeAll(BufferBudget volume) {
        while (volume.take(CHUNK)) {
            Thread.onSpinWait();
        }
        return volume.usedBytes();
    }

    @Test
    void take_ofOneVolumeAlone_getsAllThatItsOwnCeilingAllows() {
        assertThat(takeAll(new BufferBudget(1000, memory))).isEqualTo(TOTAL);
        assertThat(memory.usedBytes()).isEqualTo(TOTAL);
        assertThat(takeAll(new BufferBudget(100, new ReadMemory(TOTAL)))).isEqualTo(100);
    }

    /** Many readers of one volume wait for a slow worker with their windows full: another volume's reader still reads ahead. */
    @Test
    void take_afterAnotherVolumeTookWhatItCould_stillGetsSome() {
        BufferBudget greedy = new BufferBudget(1000, memory);
        BufferBudget quiet = new BufferBudget(1000, memory);
        assertThat(takeAll(greedy)).isEqualTo(TOTAL * 3 / 4);
        assertThat(takeAll(quiet)).isEqualTo(TOTAL / 4);
        greedy.give(CHUNK);
        assertThat(greedy.take(CHUNK)).as("it is beyond its share").isFalse();
        assertThat(quiet.take(CHUNK)).isTrue();
    }

    @Test
    void take_afterTheOthersEnded_getsAllAgain() {
        BufferBudget other = new BufferBudget(1000, memory);
        BufferBudget volume = new BufferBudget(1000, memory);
        assertThat(takeAll(volume)).isEqualTo(TOTAL * 3 / 4);
        other.close();
        assertThat(takeAll(volume)).isEqualTo(TOTAL);
    }
}
