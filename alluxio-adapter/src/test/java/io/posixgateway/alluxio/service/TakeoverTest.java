package io.posixgateway.alluxio.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.control.AttachRequest;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each session is taken over for itself: what becomes of one is nothing to the others. */
class TakeoverTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final Map<String, AtomicInteger> tries = new ConcurrentHashMap<>();
    private final Set<String> served = ConcurrentHashMap.newKeySet();
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
        Takeover takeover =
                new Takeover(new Keeper(List.of(ids)), new Server(fate), executor, () -> ending, Clock.system());
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

    private record Keeper(List<String> ids) implements Takeover.Kept {
        @Override
        public List<KeeperClient.Session> list() {
            return ids.stream()
                    .map(id -> new KeeperClient.Session(id, "/" + id, true, true))
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
        public void prepare(AttachRequest request) {}

        @Override
        public void discardAllBut(Set<String> ids) {}

        @Override
        public void endPreparation() {}
    }
}
