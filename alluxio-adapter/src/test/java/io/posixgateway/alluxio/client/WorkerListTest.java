package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.client.block.BlockWorkerInfo;
import alluxio.client.file.FileSystemContext;
import alluxio.exception.status.UnavailableException;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.time.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.security.auth.Subject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkerListTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final String HERE = "here";

    private final ManualClock clock = new ManualClock();
    private final FileSystemContext context = FileSystemContext.create(
            new Subject(),
            ClientProperties.of(
                    new StoreOptions("127.0.0.1:1", "", "MUST_CACHE", false, Map.of("alluxio.user.hostname", HERE))));
    private final AtomicInteger requests = new AtomicInteger();
    private final BlockingQueue<WorkerList.Source> responses = new LinkedBlockingQueue<>();
    private final WorkerList list = new WorkerList(
            context,
            () -> {
                requests.incrementAndGet();
                return responses.take().workers();
            },
            INTERVAL_NANOS,
            clock);

    @AfterEach
    void end() throws IOException {
        responses.add(List::of);
        context.close();
    }

    private static WorkerList.Source naming(String... hosts) {
        List<BlockWorkerInfo> workers = List.of(hosts).stream()
                .map(host -> new BlockWorkerInfo(new WorkerNetAddress().setHost(host), 1, 0))
                .toList();
        return () -> workers;
    }

    private List<String> hosts() throws IOException {
        return list.all().stream()
                .map(worker -> worker.getNetAddress().getHost())
                .toList();
    }

    private <T> FutureTask<T> started(Callable<T> use) {
        FutureTask<T> task = new FutureTask<>(use);
        Thread thread = new Thread(task, "user");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    /** Uses it when it is due; so long the master does not respond. */
    private List<String> hostsAfterSilence(Duration silence) throws Exception {
        FutureTask<List<String>> user = started(this::hosts);
        clock.awaitWaiting(1);
        clock.advance(silence);
        return user.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    private void know(String... hosts) throws IOException {
        responses.add(naming(hosts));
        assertThat(hosts()).containsExactly(hosts);
    }

    @Test
    void list_withinTheInterval_isNotRequestedAgain() throws Exception {
        know("a", "b");
        clock.advanceNanos(INTERVAL_NANOS - 1);
        assertThat(hosts()).containsExactly("a", "b");
        assertThat(requests).hasValue(1);
    }

    /** A read is not as slow as the master. */
    @Test
    void list_afterTheInterval_isRenewedWhileTheLastOneIsUsed() throws Exception {
        know("a");
        clock.advanceNanos(INTERVAL_NANOS);
        long waits = clock.waits();
        assertThat(hosts()).containsExactly("a");
        assertThat(clock.waits()).isEqualTo(waits);
        responses.add(naming("b"));
        Waiting.until("the new one is used", LIMIT, () -> hosts().contains("b"));
        assertThat(requests).hasValue(2);
    }

    @Test
    void oldList_isNotUsedWhereTheMasterResponds() throws Exception {
        know("a");
        clock.advanceNanos(WorkerList.OLD_NANOS);
        know("b");
    }

    @Test
    void oldList_thatTheMasterDoesNotRenew_isUsedAfterAMomentAndRequestedOnce() throws Exception {
        know("a");
        clock.advanceNanos(WorkerList.OLD_NANOS);
        assertThat(hostsAfterSilence(Duration.ofNanos(WorkerList.NEWER_NANOS))).containsExactly("a");
        assertThat(hosts()).containsExactly("a"); // does not wait
        assertThat(requests).hasValue(2);
        responses.add(naming("b"));
        Waiting.until("the response is used", LIMIT, () -> hosts().contains("b"));
    }

    /** Each of its requests takes until its deadline. */
    @Test
    void list_afterTheMasterFailed_isTheLastOneAtOnce() throws Exception {
        know("a");
        clock.advanceNanos(WorkerList.OLD_NANOS);
        responses.add(() -> {
            throw new UnavailableException("no master");
        });
        assertThat(hosts()).containsExactly("a");
        clock.advanceNanos(WorkerList.OLD_NANOS);
        long waits = clock.waits();
        assertThat(hosts()).containsExactly("a");
        assertThat(clock.waits()).isEqualTo(waits);
        Waiting.until("it is requested again", LIMIT, () -> requests.get() == 3);
    }

    @Test
    void firstList_thatTheMasterDoesNotGive_failsWhenItsTimeIsOver() throws Exception {
        FutureTask<Throwable> user = started(() -> catchFailure());
        clock.awaitWaiting(1);
        clock.advanceNanos(WorkerList.FIRST_NANOS - 1);
        clock.awaitWaiting(1);
        assertThat(user).isNotDone();
        clock.advanceNanos(1);
        assertThat(user.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .hasMessageContaining("did not say which workers")
                .matches(ErrnoTable::isUnanswered);
    }

    private Throwable catchFailure() {
        try {
            throw new AssertionError(hosts());
        } catch (IOException e) {
            return e;
        }
    }

    @Test
    void firstList_thatTheMasterRefuses_failsWithItsReasonUntilTheIntervalIsOver() throws Exception {
        responses.add(() -> {
            throw new UnavailableException("no master leads");
        });
        assertThatThrownBy(this::hosts).hasMessageContaining("no master leads").matches(ErrnoTable::isUnanswered);
        assertThatThrownBy(this::hosts).hasMessageContaining("no master leads");
        assertThat(requests).hasValue(1);
        clock.advanceNanos(INTERVAL_NANOS);
        know("a");
    }

    /** A leader that took over knows no worker until they have registered. */
    @Test
    void emptyList_afterAnotherOne_isBelievedWhenTheTimeToRegisterIsOver() throws Exception {
        know("a");
        responses.add(List::of);
        clock.advanceNanos(WorkerList.OLD_NANOS);
        assertThat(hosts()).containsExactly("a");
        responses.add(List::of);
        clock.advanceNanos(WorkerList.EMPTY_NANOS - 1);
        assertThat(hosts()).containsExactly("a");
        responses.add(List::of);
        clock.advanceNanos(WorkerList.OLD_NANOS);
        assertThat(hosts()).isEmpty();
        clock.advanceNanos(WorkerList.OLD_NANOS);
        know("b");
    }

    @Test
    void local_isTheFirstOnThisHostByTheLastList() throws Exception {
        know("far", HERE);
        clock.advanceNanos(INTERVAL_NANOS);
        WorkerNetAddress local = list.local(); // the master responds to nobody
        assertThat(local).isNotNull();
        assertThat(list.nearest(List.of(local))).isEqualTo(local);
        responses.add(naming("far"));
        Waiting.until("the worker here has gone", LIMIT, () -> list.local() == null);
        assertThat(list.here()).isEmpty();
    }
}
