package io.posixgateway.alluxio.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UsedBlocksTest {
    private static final int BLOCKS = 200;
    /** All of them take two seconds. */
    private static final long NANOS_OF_ONE = TimeUnit.MILLISECONDS.toNanos(10);

    @TempDir
    private Path folder = Path.of("");

    private final BlockFiles files = new BlockFiles(5);
    private final List<Long> heard = new ArrayList<>();
    private final ManualClock clock = new ManualClock();
    private boolean answers = true;
    private final UsedBlocks used = new UsedBlocks(files, this::hear, clock, () -> {});

    private int hear(List<Long> blocks) throws StoreException {
        if (!answers) {
            throw new StoreException(Errno.ETIMEDOUT, "no answer", null);
        }
        clock.advanceNanos(blocks.size() * NANOS_OF_ONE);
        heard.addAll(blocks);
        return blocks.size();
    }

    @BeforeEach
    void readAll() throws IOException {
        files.learn(folder);
        for (int i = 1; i <= BLOCKS; i++) {
            Files.writeString(folder.resolve(Integer.toString(i)), "block");
            files.used(i);
        }
    }

    @Test
    void whatASecondIsTooShortForIsToldNextTime() {
        used.tell();
        assertThat(clock.nanos()).isBetween(TimeUnit.SECONDS.toNanos(1), TimeUnit.MILLISECONDS.toNanos(1500));
        files.used(heard.get(0));
        used.tell();
        assertThat(heard)
                .containsExactlyInAnyOrderElementsOf(
                        LongStream.rangeClosed(1, BLOCKS).boxed().toList());
        assertThat(files.told()).isEqualTo(BLOCKS);
        used.tell();
        assertThat(heard).hasSize(BLOCKS + 1).endsWith(heard.get(0));
    }

    @Test
    void aWorkerThatDoesNotAnswerHearsOfWhatIsReadLater() {
        answers = false;
        used.tell();
        answers = true;
        files.used(3);
        used.tell();
        assertThat(heard).containsExactly(3L);
    }
}
