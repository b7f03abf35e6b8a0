package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LoadMetadataRaceGuardTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ManualClock clock = new ManualClock();
    private final LoadMetadataRaceGuard listings = new LoadMetadataRaceGuard(clock);

    /** Something on a thread of its own, in whose work it stays until it is told to end. */
    private static final class Held {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch over = new CountDownLatch(1);
        private final FutureTask<String> task;
        private final Thread thread;

        private interface Way {
            String go(LoadMetadataRaceGuard.Work<String> work) throws StoreException;
        }

        Held(Way way) {
            task = new FutureTask<>(() -> way.go(this::last));
            thread = new Thread(task, "held");
            thread.start();
        }

        private String last() {
            begun.countDown();
            try {
                over.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return "done";
        }

        void awaitBegin() throws InterruptedException {
            begun.await();
        }

        /** It waits before its work. */
        void awaitWaiting() throws Exception {
            Waiting.until("it waits", LIMIT, () -> isWaiting(thread.getState()));
            assertThat(begun.getCount()).isEqualTo(1);
        }

        private static boolean isWaiting(Thread.State state) {
            return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        }

        void end() throws Exception {
            over.countDown();
            assertThat(task.get()).isEqualTo("done");
        }

        void run() throws Exception {
            awaitBegin();
            end();
        }
    }

    private Held listing(String directory) {
        return new Held(work -> listings.list(directory, work));
    }

    private Held taking(String... paths) {
        return new Held(work -> listings.take(List.of(paths), work));
    }

    @Test
    void noNameIsTakenAwayDuringTheFirstListing() throws Exception {
        Held first = listing("/d");
        first.awaitBegin();
        Held removal = taking("/d/f");
        Held moveIn = taking("/e/f", "/d/f");
        removal.awaitWaiting();
        moveIn.awaitWaiting();
        taking("/f", "/e/d/f").run();
        first.end();
        removal.run();
        moveIn.run();
    }

    @Test
    void theFirstListingWaitsForThoseWhoTakeNamesAwayAndTheNextDoesNot() throws Exception {
        Held removal = taking("/f");
        Held another = taking("/g");
        removal.awaitBegin();
        another.awaitBegin();
        Held first = listing("/");
        first.awaitWaiting();
        removal.end();
        first.awaitWaiting();
        Held late = taking("/h");
        late.awaitWaiting();
        another.end();
        first.run();
        late.awaitBegin();
        listing("/").run();
        late.end();
    }

    /** As the copy of a large object in a store takes. */
    @Test
    void behindOneThatTakesLong_theFirstListingLetsTheOthersGoOn() throws Exception {
        Held copy = taking("/d/large");
        copy.awaitBegin();
        Held first = listing("/d");
        first.awaitWaiting();
        Held removal = taking("/d/f");
        removal.awaitWaiting();
        clock.advance(Duration.ofSeconds(2));
        removal.run();
        Held another = taking("/d/g");
        another.awaitBegin();
        copy.end();
        first.awaitWaiting();
        another.end();
        first.run();
        listing("/d").run();
    }

    @Test
    void aListingThatFailedWasNone() throws Exception {
        assertThatThrownBy(() -> listings.list("/d", () -> {
                    throw new StoreException(Errno.EIO, "no answer", null);
                }))
                .hasMessage("no answer");
        assertIsFirst("/d");
    }

    @Test
    void anotherDirectoryOfTheSamePathWasNotListed() throws Exception {
        listing("/d").run();
        taking("/d").run();
        assertIsFirst("/d");
    }

    @Test
    void directoriesBelowAnotherOneOfTheSamePathWereNotListed() throws Exception {
        for (String directory : List.of("/d/e", "/d/e/f", "/d-e", "/d0")) {
            listing(directory).run();
        }
        taking("/d").run();
        assertIsFirst("/d/e");
        assertIsFirst("/d/e/f");
        Held beside = taking("/d-e/f", "/d0/f");
        beside.awaitBegin();
        listing("/d-e").run();
        listing("/d0").run();
        beside.end();
    }

    private void assertIsFirst(String directory) throws Exception {
        Held first = listing(directory);
        first.awaitBegin();
        Held removal = taking(directory + "/f");
        removal.awaitWaiting();
        first.end();
        removal.run();
    }

    @Test
    void whoWaitsCanBeInterrupted() throws Exception {
        Held first = listing("/d");
        first.awaitBegin();
        Held removal = taking("/d/f");
        removal.awaitWaiting();
        removal.thread.interrupt();
        assertThatThrownBy(removal.task::get).hasRootCauseInstanceOf(InterruptedException.class);
        first.end();
        taking("/d/f").run();
    }
}
