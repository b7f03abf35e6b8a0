package io.posixgateway.alluxio.gateway;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each session is taken over for itself: what becomes of one is nothing to the others. */
class TakeoverTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final Map<String, AtomicInteger> tries = new ConcurrentHashMap<>();
    private final Set<String> served = ConcurrentHashMap.newKeySet();
    private final Map<String, String> refused = new ConcurrentHashMap<>();
    private final Map<String, String> aborted = new ConcurrentHashMap<>();
    private final Set<String> preparedFor = ConcurrentHashMap.newKeySet();
    private final AtomicInteger discards = new AtomicInteger();
    private volatile boolean unanswerable;
    /** Those that an earlier process had received are not answered before its end. */
    private volatile boolean keepsReceived;

    private volatile boolean ending;

    @AfterEach
    void end() {
        ending = true;
        executor.shutdownNow();
    }

    /** What becomes of a try to serve a session; the first is number 1. */
    private interface Fate {
        void of(String id, int attempt) throws ServiceException, InterruptedException;
    }

    private Takeover start(Fate fate, String... ids) {
        return started(
                new Takeover(new Keeper(List.of(ids)), new Server(fate), executor, () -> ending, Clock.system()));
    }

    /** With tries that take no time, on the thread that looks after them. */
    private Takeover start(Clock clock, Fate fate, String... ids) {
        return started(new Takeover(new Keeper(List.of(ids)), new Server(fate), Runnable::run, () -> ending, clock));
    }

    private Takeover started(Takeover takeover) {
        executor.execute(takeover);
        return takeover;
    }

    private static ServiceException notYet() {
        return new ServiceException(ServiceException.Kind.UNAVAILABLE, "not yet");
    }

    @Test
    void a_surprise_in_one_session_is_tried_again_and_ends_no_other() throws Exception {
        Takeover takeover = start(
                (id, attempt) -> {
                    if (id.equals("x") && attempt < 3) {
                        throw new OutOfMemoryError("Requested array size exceeds VM limit");
                    }
                    if (id.equals("y") && attempt < 3) {
                        throw notYet();
                    }
                },
                "x",
                "y");
        Waiting.until("all are served", LIMIT, takeover::done);
        assertThat(served).containsExactlyInAnyOrder("x", "y");
    }

    /** Whoever mounts it next makes it anew; the gateway is ready without it. */
    @Test
    void one_whose_connection_was_aborted_is_not_waited_for() throws Exception {
        Takeover takeover = start(
                (id, attempt) -> {
                    if (id.equals("ended")) {
                        throw refusal(ServiceException.Kind.PRECONDITION);
                    }
                },
                "ended",
                "x");
        Waiting.until("all are served that can be", LIMIT, takeover::done);
        assertThat(served).containsExactly("x");
        assertThat(tries).doesNotContainKey("ended");
    }

    @Test
    void one_that_hangs_keeps_no_other_from_being_tried_again() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        Takeover takeover = start(
                (id, attempt) -> {
                    if (id.equals("x")) {
                        end.await();
                    } else if (attempt < 5) {
                        throw notYet();
                    }
                },
                "x",
                "y");
        Waiting.until("the other is served", LIMIT, () -> served.contains("y"));
        assertThat(takeover.done()).isFalse();
        end.countDown();
        Waiting.until("all are served", LIMIT, takeover::done);
        assertThat(tries.get("x")).hasValue(1);
    }

    @Test
    void the_first_tries_are_over_when_each_session_had_one() throws Exception {
        Takeover takeover = start(
                (id, attempt) -> {
                    throw new IllegalStateException("never");
                },
                "x",
                "y");
        takeover.awaitFirstTry(LIMIT.toMillis());
        assertThat(tries).containsOnlyKeys("x", "y");
        Waiting.until(
                "they are tried again", LIMIT, () -> tries.values().stream().allMatch(count -> count.get() > 2));
        assertThat(takeover.done()).isFalse();
    }

    private static ServiceException refusal(ServiceException.Kind kind) {
        return new ServiceException(kind, "this option is not known");
    }

    /** Its programs wait, and nothing that happens here will end that. */
    @ParameterizedTest
    @EnumSource(
            value = ServiceException.Kind.class,
            names = {"INVALID", "DENIED", "PRECONDITION", "NOT_FOUND", "EXISTS"})
    void a_session_that_is_refused_for_a_minute_answers_EIO(ServiceException.Kind kind) throws Exception {
        ManualClock clock = new ManualClock();
        Takeover takeover = start(
                clock,
                (id, attempt) -> {
                    if (id.equals("x")) {
                        throw refusal(kind);
                    }
                },
                "x",
                "y");
        Waiting.until("the other is served", LIMIT, () -> served.contains("y"));
        secondsPass(
                clock,
                "it was tried again",
                () -> requireNonNull(tries.get("x")).get() > 3);
        assertThat(refused).isEmpty();
        assertThat(takeover.done()).isFalse();
        secondsPass(clock, "it is refused", takeover::done);
        assertThat(refused).containsExactly(Map.entry("x", "this option is not known"));
        assertThat(aborted).isEmpty();
    }

    /** Its folder is that process's until then. */
    @Test
    void a_session_whose_gateway_does_not_end_answers_EIO_until_it_has_ended() throws Exception {
        ManualClock clock = new ManualClock();
        AtomicBoolean ended = new AtomicBoolean();
        Takeover takeover = start(
                clock,
                (id, attempt) -> {
                    if (!ended.get()) {
                        throw refusal(ServiceException.Kind.ENDING);
                    }
                },
                "x");
        secondsPass(clock, "it is refused", () -> !refused.isEmpty());
        int triesUntilRefused = requireNonNull(tries.get("x")).get();
        secondsPass(
                clock,
                "it is tried all the same",
                () -> requireNonNull(tries.get("x")).get() > triesUntilRefused + 2);
        assertThat(takeover.done()).isFalse();
        assertThat(aborted).isEmpty();
        ended.set(true);
        secondsPass(clock, "it is served", takeover::done);
        assertThat(served).containsExactly("x");
    }

    /** Such as one of whose memory this version understands nothing: a call that nobody answers could not even be killed. */
    @Test
    void a_session_whose_calls_cannot_even_be_refused_is_ended_after_another_minute() throws Exception {
        unanswerable = true;
        ManualClock clock = new ManualClock();
        AtomicLong secondsUntilAborted = new AtomicLong();
        Takeover takeover = start(
                clock,
                (id, attempt) -> {
                    if (aborted.isEmpty()) {
                        secondsUntilAborted.set(TimeUnit.NANOSECONDS.toSeconds(clock.nanos()));
                    }
                    throw refusal(ServiceException.Kind.PRECONDITION);
                },
                "x");
        secondsPass(clock, "it is ended", takeover::done);
        assertThat(aborted).containsExactly(Map.entry("x", "this option is not known"));
        assertThat(secondsUntilAborted.get()).isBetween(120L, 135L);
    }

    /** Where the kernel resends none, a call that the earlier process had received would wait for its end. */
    @Test
    void a_session_whose_gateway_does_not_end_is_ended_where_calls_are_lost_in_it() throws Exception {
        keepsReceived = true;
        ManualClock clock = new ManualClock();
        start(
                clock,
                (id, attempt) -> {
                    throw refusal(ServiceException.Kind.ENDING);
                },
                "x");
        secondsPass(clock, "it is refused", () -> !refused.isEmpty());
        assertThat(aborted).isEmpty();
        secondsPass(clock, "it is ended", () -> !aborted.isEmpty());
        assertThat(TimeUnit.NANOSECONDS.toSeconds(clock.nanos())).isBetween(120L, 145L);
    }

    /** Those of a process that has ended have failed. */
    @Test
    void a_session_that_is_refused_and_whose_gateway_has_ended_is_not_ended() throws Exception {
        keepsReceived = true;
        ManualClock clock = new ManualClock();
        Takeover takeover = start(
                clock,
                (id, attempt) -> {
                    throw refusal(ServiceException.Kind.DENIED);
                },
                "x");
        secondsPass(clock, "it is refused", takeover::done);
        assertThat(refused).containsOnlyKeys("x");
        assertThat(aborted).isEmpty();
    }

    @Test
    void a_session_whose_Alluxio_is_away_waits_for_it() throws Exception {
        ManualClock clock = new ManualClock();
        Takeover takeover = start(
                clock,
                (id, attempt) -> {
                    if (attempt < 60) {
                        throw notYet();
                    }
                },
                "x");
        secondsPass(clock, "it is served", takeover::done);
        assertThat(served).containsExactly("x");
        assertThat(refused).isEmpty();
    }

    /** The keeper logs each try. */
    @Test
    void a_session_that_another_gateway_serves_is_tried_ever_more_rarely_and_never_refused() throws Exception {
        ManualClock clock = new ManualClock();
        AtomicBoolean ended = new AtomicBoolean();
        Takeover takeover = start(
                clock,
                (id, attempt) -> {
                    if (!ended.get()) {
                        throw refusal(ServiceException.Kind.SERVED_ELSEWHERE);
                    }
                },
                "x");
        Waiting.until("five minutes pass", LIMIT, () -> {
            if (clock.waiting() > 0) {
                clock.advance(Duration.ofSeconds(1));
            }
            return TimeUnit.NANOSECONDS.toSeconds(clock.nanos()) >= 300;
        });
        assertThat(requireNonNull(tries.get("x")).get()).isBetween(15, 60);
        assertThat(refused).isEmpty();
        ended.set(true);
        secondsPass(clock, "it is served", takeover::done);
        assertThat(served).containsExactly("x");
    }

    @Test
    void a_session_that_is_refused_now_and_then_is_not_given_up() throws Exception {
        ManualClock clock = new ManualClock();
        Takeover takeover = start(
                clock,
                (id, attempt) -> {
                    if (attempt < 60) {
                        throw attempt % 5 == 0 ? notYet() : refusal(ServiceException.Kind.DENIED);
                    }
                },
                "x");
        secondsPass(clock, "it is served", takeover::done);
        assertThat(refused).isEmpty();
    }

    /** Lets some seconds pass when all that was due is done, until the condition holds. */
    private static void secondsPass(ManualClock clock, String until, BooleanSupplier condition) throws Exception {
        Waiting.until(until, LIMIT, () -> {
            if (clock.waiting() > 0) {
                clock.advance(Duration.ofSeconds(5));
            }
            return condition.getAsBoolean();
        });
    }

    private record Keeper(List<String> ids) implements Takeover.Kept {
        @Override
        public List<KeeperClient.Session> list() {
            return ids.stream()
                    .map(id -> new KeeperClient.Session(id, "/" + id, true, true, id.startsWith("ended")))
                    .toList();
        }

        @Override
        public byte[] record(String id) {
            return AttachRequest.newBuilder().setVolume(id).build().toByteArray();
        }
    }

    private final class Server implements Takeover.Server {
        private final Fate fate;

        Server(Fate fate) {
            this.fate = fate;
        }

        @Override
        public void resume(AttachRequest request) throws ServiceException {
            String id = request.getVolume();
            int attempt = tries.computeIfAbsent(id, key -> new AtomicInteger()).incrementAndGet();
            try {
                fate.of(id, attempt);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw notYet();
            }
            served.add(id);
        }

        @Override
        public boolean refuse(String id, String why) throws ServiceException {
            if (unanswerable) {
                throw refusal(ServiceException.Kind.PRECONDITION);
            }
            refused.put(id, why);
            return !keepsReceived;
        }

        @Override
        public void abort(String id, String why) {
            aborted.put(id, why);
        }

        @Override
        public void prepare(AttachRequest request) {
            preparedFor.add(request.getVolume());
        }

        @Override
        public void discardAllBut(Set<String> ids) {
            if (discards.incrementAndGet() == 1) {
                throw new IllegalStateException("nobody expects this");
            }
        }

        @Override
        public void endPreparation() {}
    }

    /** A rollout waits until the standby is ready. */
    @Test
    void a_preparation_that_fails_unexpectedly_is_repeated_and_makes_ready_all_the_same() throws Exception {
        ManualClock clock = new ManualClock();
        Takeover takeover = new Takeover(
                new Keeper(List.of("x")), new Server((id, attempt) -> {}), Runnable::run, () -> ending, clock);
        Future<?> preparing = executor.submit(() -> {
            takeover.prepare();
            return null;
        });
        Waiting.until("it is ready", LIMIT, () -> takeover.prepared() || preparing.isDone());
        secondsPass(clock, "it prepares again", () -> discards.get() > 1 || preparing.isDone());
        assertThat(takeover.prepared()).isTrue();
        assertThat(discards.get()).isGreaterThan(1);
        assertThat(preparedFor).containsExactly("x");
        ending = true;
        secondsPass(clock, "it ends", preparing::isDone);
        preparing.get();
    }
}
