package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.client.ShortTimeouts;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The answer to the first question of a client is lost, and the connection stays. */
class LostAnswersIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private static Thread thread(FutureTask<?> task) {
        Thread thread = new Thread(task, "caller");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    @Test
    void itIsAskedAgainAndWhoWaitsCanBeInterrupted() throws Exception {
        try (StoppableProxy proxy = new StoppableProxy(SharedAlluxio.running().masters());
                Store store = store(proxy)) {
            proxy.cutAnswers();
            FutureTask<String> first = new FutureTask<>(() -> store.status("/").name());
            FutureTask<String> second = new FutureTask<>(() -> store.status("/").name());
            thread(first);
            Thread caller = thread(second);
            Waiting.until("it waits", LIMIT, () -> caller.getState() == Thread.State.TIMED_WAITING);
            caller.interrupt();
            assertThatThrownBy(() -> second.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINTR));
            proxy.go();
            first.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void aMasterThatNeverAnswersIsAnErrorSoon() throws Exception {
        ShortTimeouts timeouts = new ShortTimeouts();
        try (timeouts;
                StoppableProxy proxy =
                        new StoppableProxy(SharedAlluxio.running().masters());
                Store store = store(proxy)) {
            proxy.cutAnswers();
            FutureTask<String> status = new FutureTask<>(() -> store.status("/").name());
            thread(status);
            assertThatThrownBy(() -> status.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
            proxy.go();
            assertThat(store.status("/").directory()).isTrue();
        }
    }

    private static Store store(StoppableProxy proxy) throws StoreException {
        AlluxioOptions place = AlluxioOptions.ofUri("alluxio://" + proxy.address() + "/");
        return AlluxioMount.connect(place, SharedAlluxio.options(Map.of()));
    }
}
