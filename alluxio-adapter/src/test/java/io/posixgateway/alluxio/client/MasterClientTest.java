package io.posixgateway.alluxio.client;

import static alluxio.grpc.BlockMasterClientServiceGrpc.getGetWorkerInfoListMethod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.client.file.FileSystemContext;
import alluxio.grpc.GetWorkerInfoListPOptions;
import alluxio.grpc.ListStatusPartialPOptions;
import alluxio.grpc.RenamePOptions;
import alluxio.grpc.WorkerInfo;
import alluxio.shaded.client.io.grpc.Deadline;
import alluxio.shaded.client.io.grpc.Status;
import io.posixgateway.alluxio.client.MasterClient.Repeat;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.OffsetClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.security.auth.Subject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MasterClientTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String PATH = "/file";
    private static final int MAX_CALLS = 4;

    private final OffsetClock clock = new OffsetClock();
    private final FalseMaster first = new FalseMaster(true);
    private final FalseMaster second = new FalseMaster(false);
    private final FileSystemContext context;
    private final MasterClient client;
    private final FileSystemMaster files;

    MasterClientTest() throws IOException {
        context = context(first.address() + "," + second.address());
        client = new MasterClient(context, MAX_CALLS, clock);
        files = new FileSystemMaster(context, client);
    }

    private static FileSystemContext context(String masters) {
        StoreOptions options = new StoreOptions(
                masters,
                "",
                "THROUGH",
                true,
                Map.of(
                        "alluxio.security.authentication.type", "NOSASL",
                        "alluxio.user.rpc.retry.max.duration", "8sec"));
        return FileSystemContext.create(new Subject(), ClientProperties.of(options));
    }

    @AfterEach
    void end() throws IOException {
        client.close();
        context.close();
        first.close();
        second.close();
    }

    /** A call on a thread of its own. */
    private static final class Caller {
        private final FutureTask<Integer> task;
        private final Thread thread;

        private interface Call {
            void run() throws StoreException;
        }

        Caller(Call call) {
            task = new FutureTask<>(() -> {
                call.run();
                return 0;
            });
            thread = new Thread(task, "caller");
            thread.setDaemon(true);
            thread.start();
        }

        int errno() throws Exception {
            try {
                return task.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof StoreException failure) {
                    return failure.errno();
                }
                throw e;
            }
        }
    }

    private Caller asking() {
        return new Caller(() -> files.status(PATH));
    }

    private void rename(Repeat repeat) throws StoreException {
        files.rename(PATH, "/other", RenamePOptions.getDefaultInstance(), repeat);
    }

    @Test
    void call_afterTheLeaderChanged_reachesTheNewOne() throws Exception {
        files.status(PATH);
        first.close();
        second.lead();
        files.status(PATH);
        assertThat(first.requests).hasSize(1);
        assertThat(second.requests).hasSize(1);
    }

    /** Its connections stay, and without authentication nothing else says that it is a standby now. */
    @ParameterizedTest
    @EnumSource(Repeat.class)
    void call_afterTheLeaderSteppedDown_reachesTheNewOne(Repeat repeat) throws Exception {
        files.status(PATH);
        first.stepDown();
        second.lead();
        rename(repeat);
        assertThat(second.requests).hasSize(1);
    }

    /** Longer than a call tries to connect, since the machine was suspended. */
    @Test
    void connectionThatIsMadeLate_isUsed() throws Exception {
        first.answerVersions(number -> {
            if (number == 1) {
                return Status.UNAVAILABLE;
            }
            clock.advance(Duration.ofSeconds(20));
            return Status.OK;
        });
        try (FileSystemContext one = context(first.address());
                MasterClient late = new MasterClient(one, MAX_CALLS, clock)) {
            new FileSystemMaster(one, late).status(PATH);
        }
        assertThat(first.requests).hasSize(1);
    }

    @Test
    void masterAtWhoseAddressNobodyListens_isAbsent() throws Exception {
        AtomicInteger absent = new AtomicInteger();
        try (FileSystemContext one = context(first.address());
                MasterClient alone = new MasterClient(one, MAX_CALLS, clock)) {
            alone.onAbsent(absent::incrementAndGet);
            new FileSystemMaster(one, alone).status(PATH);
            first.close();
            Caller caller = new Caller(() -> new FileSystemMaster(one, alone).status(PATH));
            Waiting.until("it is absent", LIMIT, () -> absent.get() > 0);
            clock.advance(Duration.ofSeconds(20));
            assertThat(caller.errno()).isEqualTo(Errno.EIO);
        }
    }

    /** Masters elect a leader, and another one at once. */
    @ParameterizedTest
    @EnumSource(Repeat.class)
    void call_afterLeadersSteppedDownOneAfterTheOther_reachesTheLastOne(Repeat repeat) throws Exception {
        first.answer(number -> number <= 2 ? Status.UNIMPLEMENTED : Status.OK);
        rename(repeat);
        assertThat(first.requests).hasSize(3);
    }

    @Test
    void call_whoseLeadersStepDownOrDie_reachesTheLastOne() throws Exception {
        List<Status> answers = List.of(
                Status.UNIMPLEMENTED, Status.UNAVAILABLE, Status.UNIMPLEMENTED, Status.UNIMPLEMENTED, Status.OK);
        first.answer(number -> answers.get(number - 1));
        files.status(PATH);
        assertThat(first.requests).hasSize(answers.size());
    }

    /** As one of an older version. */
    @Test
    void call_thatTheLeaderDoesNotKnow_isNotSupported() {
        first.answer(number -> Status.UNIMPLEMENTED);
        assertThatThrownBy(() -> files.status(PATH))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP));
        assertThat(first.requests).hasSize(MasterClient.MAX_UNKNOWN + 1);
    }

    /** It was sent to the former leader, and the new one is to know whether that did it. */
    @Test
    void change_whoseLeaderDies_isSentToTheNewOneWithTheSameOperationId() throws Exception {
        first.answer(number -> null);
        Caller caller = new Caller(() -> rename(Repeat.UNANSWERED));
        Waiting.until("the leader has it", LIMIT, () -> first.requests.size() == 1);
        first.close();
        Waiting.until(
                "the call waits for a leader", LIMIT, () -> caller.thread.getState() == Thread.State.TIMED_WAITING);
        second.lead();
        assertThat(caller.errno()).isZero();
        assertThat(second.requests).isEqualTo(first.requests);
        assertThat(String.valueOf(second.requests)).contains("operationId");
    }

    /** The one that gave no answer may have done it. */
    @Test
    void change_thatIsRefusedOnlyWhenItIsRepeated_saysSo() {
        first.answer(number -> number == 1 ? Status.UNAVAILABLE : Status.NOT_FOUND);
        assertThatThrownBy(() -> rename(Repeat.UNANSWERED_CHANGE)).isInstanceOfSatisfying(StoreException.class, e -> {
            assertThat(e.errno()).isEqualTo(Errno.ENOENT);
            assertThat(e.isOfRepetition()).isTrue();
        });
        assertThat(first.requests).hasSize(2);
    }

    /** The one that gave no answer may have done a part of it, and the next one knows it by that. */
    @Test
    void change_thatIsDoneOnlyWhenItIsRepeated_saysSo() throws Exception {
        first.answer(number -> number == 1 ? Status.UNAVAILABLE : Status.OK);
        assertThatThrownBy(() -> rename(Repeat.UNANSWERED_CHANGE)).isInstanceOfSatisfying(StoreException.class, e -> {
            assertThat(e.errno()).isEqualTo(Errno.EIO);
            assertThat(e.isOfRepetition()).isTrue();
        });
        assertThat(first.requests).hasSize(2);
        rename(Repeat.UNANSWERED_CHANGE);
    }

    /** By a master that looked at nothing. */
    @Test
    void change_thatIsDoneAfterTheMasterBeganAnew_isDone() throws Exception {
        first.answer(number -> number == 1 ? Status.UNAUTHENTICATED : Status.OK);
        rename(Repeat.UNANSWERED_CHANGE);
        assertThat(first.requests).hasSize(2);
    }

    private void refusesAsNotDone(Repeat repeat) {
        assertThatThrownBy(() -> rename(repeat)).isInstanceOfSatisfying(StoreException.class, e -> {
            assertThat(e.errno()).isEqualTo(Errno.ENOENT);
            assertThat(e.isOfRepetition()).isFalse();
        });
    }

    @Test
    void change_thatIsRefusedAtOnce_isNotDone() {
        first.answer(number -> Status.NOT_FOUND);
        refusesAsNotDone(Repeat.UNANSWERED_CHANGE);
    }

    /** By a master that looked at nothing. */
    @Test
    void change_thatIsRefusedAfterTheMasterBeganAnew_isNotDone() {
        first.answer(number -> number == 1 ? Status.UNAUTHENTICATED : Status.NOT_FOUND);
        refusesAsNotDone(Repeat.UNANSWERED_CHANGE);
        assertThat(first.requests).hasSize(2);
    }

    /** Asked twice or once, it is not there. */
    @Test
    void request_thatChangesNothing_isAnsweredByItsRepetition() {
        first.answer(number -> number == 1 ? Status.UNAVAILABLE : Status.NOT_FOUND);
        refusesAsNotDone(Repeat.UNANSWERED);
    }

    @Test
    void changeThatIsSentOnce_unanswered_isNotRepeated() {
        first.answer(number -> Status.UNAVAILABLE);
        assertThatThrownBy(() -> rename(Repeat.REFUSED)).matches(ErrnoTable::isUnanswered);
        assertThat(first.requests).hasSize(1);
    }

    /** A master that began anew does not know the connection, and looks at nothing that comes on it. */
    @Test
    void changeThatIsSentOnce_refusedSinceTheMasterBeganAnew_isRepeated() throws Exception {
        first.answer(number -> number == 1 ? Status.UNAUTHENTICATED : Status.OK);
        rename(Repeat.REFUSED);
        assertThat(first.requests).hasSize(2);
    }

    @Test
    void call_whoseConnectionTheMasterClosed_isRepeated() throws Exception {
        Status closed = Status.RESOURCE_EXHAUSTED.withDescription(
                "Connection closed after GOAWAY. HTTP/2 error code: ENHANCE_YOUR_CALM, debug data: too_many_pings");
        first.answer(number -> number == 1 ? closed : Status.OK);
        rename(Repeat.UNANSWERED);
        assertThat(first.requests).hasSize(2);
    }

    /** As a leader of 2.9.3 answered that continued after another one was elected. */
    @Test
    void change_whoseLeaderWasDeposedMeanwhile_isSentToTheNextOne() throws Exception {
        Status deposed =
                Status.INTERNAL.withDescription("alluxio.exception.status.UnavailableException: Failed to complete"
                        + " request: Server 127.0.0.1_21086@group-ABB3109A44C1 is not the leader");
        first.answer(number -> deposed);
        Caller caller = new Caller(() -> rename(Repeat.UNANSWERED));
        Waiting.until("the former leader has it", LIMIT, () -> !first.requests.isEmpty());
        first.stepDown();
        second.lead();
        assertThat(caller.errno()).isZero();
        assertThat(second.requests).hasSize(1);
    }

    @Test
    void changeThatIsSentOnce_whoseLeaderWasDeposedMeanwhile_isNotRepeated() {
        first.answer(number -> Status.INTERNAL.withDescription("Server s is not the leader"));
        assertThatThrownBy(() -> rename(Repeat.REFUSED)).hasMessageContaining("is not the leader");
        assertThat(first.requests).hasSize(1);
    }

    @Test
    void call_thatTheMasterRefuses_isNotRepeated() {
        first.answer(number -> Status.NOT_FOUND);
        assertThatThrownBy(() -> files.status(PATH))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
        assertThat(first.requests).hasSize(1);
    }

    /** The others go on with the same connection. */
    @Test
    void interrupt_endsOneCallOnly() throws Exception {
        first.answer(number -> number > 2 ? Status.OK : null);
        Caller one = asking();
        Caller other = asking();
        Waiting.until("the master has both", LIMIT, () -> first.requests.size() == 2);
        one.thread.interrupt();
        assertThat(one.errno()).isEqualTo(Errno.EINTR);
        Waiting.until("the master need not answer it", LIMIT, () -> first.cancelled.get() == 1);
        files.status(PATH);
        assertThat(first.requests).hasSize(3);
        assertThat(other.task).isNotDone();
    }

    @Test
    void close_endsCallsInFlight() throws Exception {
        first.answer(number -> null);
        Caller caller = asking();
        Waiting.until("the master has it", LIMIT, () -> first.requests.size() == 1);
        client.close();
        assertThat(caller.errno()).isEqualTo(Errno.EIO);
        assertThat(asking().errno()).isEqualTo(Errno.EIO);
    }

    /** The master had other calls on it, which it may answer yet. */
    @Test
    void connection_onWhichOneCallFails_isClosedWhenTheOthersHaveEnded() throws Exception {
        first.answer(number -> number == 2 ? Status.UNAVAILABLE : number == 1 ? null : Status.OK);
        Caller listing = asking();
        Waiting.until("the master has it", LIMIT, () -> first.requests.size() == 1);
        files.status(PATH);
        assertThat(first.requests).hasSize(3);
        assertThat(first.cancelled).hasValue(0);
        assertThat(listing.task).isNotDone();
    }

    private List<WorkerInfo> workers(Duration deadline) throws Exception {
        GetWorkerInfoListPOptions request = GetWorkerInfoListPOptions.getDefaultInstance();
        return client.sendAside("workers", getGetWorkerInfoListMethod(), request, deadline.toNanos())
                .getWorkerInfosList();
    }

    /** Each of those may wait for as long as it takes. */
    @Test
    void callAside_whileAllPlacesAreTaken_isSent() throws Exception {
        first.answer(number -> null);
        List<Caller> callers = new ArrayList<>();
        for (int i = 0; i < MAX_CALLS; i++) {
            callers.add(asking());
        }
        Waiting.until("the master has them", LIMIT, () -> first.requests.size() == MAX_CALLS);
        assertThat(workers(LIMIT)).isEmpty();
        assertThat(callers).noneMatch(caller -> caller.task.isDone());
    }

    /** A leader that is stopped keeps its connections for a minute. */
    @Test
    void callAfterOneAsideThatWasNotAnswered_reachesTheNextLeader() throws Exception {
        files.status(PATH);
        first.freeze();
        second.lead();
        assertThatThrownBy(() -> workers(Duration.ofMillis(1))).matches(ErrnoTable::isUnanswered);
        files.status(PATH);
        assertThat(first.requests).hasSize(1);
        assertThat(second.requests).hasSize(1);
    }

    private static void expiresWithin(Deadline deadline, Duration least, Duration most) {
        assertThat(Duration.ofSeconds(deadline.timeRemaining(TimeUnit.SECONDS))).isBetween(least, most);
    }

    @Test
    void eachCall_hasADeadline() throws Exception {
        files.status(PATH);
        RemoteCalls.ofThread().begin();
        RemoteCalls.ofThread().beginUnlimited();
        try {
            list();
        } finally {
            RemoteCalls.ofThread().endUnlimited();
            RemoteCalls.ofThread().end();
        }
        List<Deadline> deadlines =
                first.deadlines.stream().map(Optional::orElseThrow).toList();
        assertThat(deadlines).hasSize(2);
        expiresWithin(deadlines.get(0), Duration.ZERO, Duration.ofMinutes(5));
        expiresWithin(deadlines.get(1), Duration.ofHours(1), Duration.ofHours(24));
    }

    private void list() throws StoreException {
        files.list(PATH, ListStatusPartialPOptions.getDefaultInstance());
    }

    /** @param failing so many are cut off after this time */
    private void cutOff(Duration after, int failing) {
        first.answer(number -> {
            clock.advance(after);
            return number <= failing ? Status.UNAVAILABLE.withDescription("Keepalive failed") : Status.OK;
        });
    }

    @Test
    void listing_cutOffWhileTheMasterWorked_isRepeated() throws Exception {
        cutOff(Duration.ofMinutes(4), 2);
        list();
        assertThat(first.requests).hasSize(3);
    }

    @Test
    void listing_cutOffAgainAndAgain_fails() {
        cutOff(Duration.ofMinutes(4), 99);
        assertThatThrownBy(this::list).hasMessageContaining("Keepalive failed");
        assertThat(first.requests).hasSize(MasterClient.MAX_CUT_OFF + 1);
    }

    @Test
    void listing_cutOffBeforeTheMasterWorked_failsWhenTheTimeForRepetitionsIsOver() {
        cutOff(Duration.ofSeconds(9), 99);
        assertThatThrownBy(this::list).hasMessageContaining("Keepalive failed");
        assertThat(first.requests).hasSize(1);
    }
}
