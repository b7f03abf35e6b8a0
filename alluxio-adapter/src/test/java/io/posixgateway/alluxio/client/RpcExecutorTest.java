package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RpcExecutorTest {
    private static final int USUAL = 2;
    private static final int MANY = 1000;
    private static final int STUCK = 5;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final RpcExecutor answers = new RpcExecutor(USUAL, Duration.ofMillis(100));

    @Test
    void aBurstOfShortTasksTakesNoMoreThanTheUsualThreads() throws Exception {
        CountDownLatch ended = new CountDownLatch(MANY);
        for (int i = 0; i < MANY; i++) {
            answers.execute(ended::countDown);
        }
        assertThat(ended.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(answers.threads()).isLessThanOrEqualTo(USUAL);
    }

    @Test
    void tasksThatWaitForALaterOneDoNotHoldItBack() throws Exception {
        CountDownLatch last = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(STUCK);
        for (int i = 0; i < STUCK; i++) {
            answers.execute(() -> {
                try {
                    last.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                ended.countDown();
            });
        }
        answers.execute(last::countDown);
        assertThat(ended.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        answers.execute(() -> {});
        Waiting.until("threads beyond the usual ones end", LIMIT, () -> answers.threads() <= USUAL);
    }
}
