package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LruReporterTest {
    private static final int BLOCKS = 200;
    /** All of them take two seconds. */
    private static final long NANOS_OF_ONE = TimeUnit.MILLISECONDS.toNanos(10);

    @TempDir
    private Path folder = Path.of("");

    private final BlockFiles files = new BlockFiles(5);
    private final List<Long> heard = new CopyOnWriteArrayList<>();
    private final ManualClock clock = new ManualClock();
    private boolean answers = true;
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger lookedAfter = new AtomicInteger();
    private final LruReporter used = new LruReporter(files, this::hear, clock, this::lookAfter);

    private void lookAfter() {
        if (lookedAfter.incrementAndGet() == 1) {
            throw new StackOverflowError("nobody expects this");
        }
    }

    private int hear(List<Long> blocks) throws StoreException {
        if (failures.getAndDecrement() > 0) {
            throw new LinkageError("nobody expects this");
        }
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

    /** Else the worker would evict what is read most, and evicted files would stay open, for as long as this process lives. */
    @Test
    void aFailureThatNobodyExpects_endsNothing() throws Exception {
        failures.set(1);
        used.start();
        Eventually.holds("the worker hears of all but some, and evicted files are looked for", () -> {
            clock.advance(Duration.ofSeconds(5));
            return heard.size() >= BLOCKS - 32 && lookedAfter.get() > 1;
        });
        used.close();
    }
}
