package io.posixgateway.fuse.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionMetricsTest {
    @Test
    void everyDurationLiesBelowItsBucketsBoundAndNotBelowTheOneBefore() {
        for (long nanos = 0; nanos < 1L << 40; nanos += 1 + nanos / 97) {
            int index = LatencyBuckets.indexOf(nanos);
            assertThat(nanos).isLessThan(LatencyBuckets.upperBoundNanos(index));
            if (index > 0) {
                assertThat(nanos).isGreaterThanOrEqualTo(LatencyBuckets.upperBoundNanos(index - 1));
            }
        }
        assertThat(LatencyBuckets.indexOf(Long.MAX_VALUE)).isEqualTo(LatencyBuckets.COUNT - 1);
    }

    @Test
    void quantilesAreKnownToAQuarter() {
        SessionMetrics metrics = new SessionMetrics(Clock.system());
        for (int i = 1; i <= 1000; i++) {
            metrics.requestBegan();
            metrics.requestEnded(Opcode.READ, 0, i * 1000L);
        }
        Latencies latencies = metrics.latencies(Opcode.READ);
        assertThat(latencies.count()).isEqualTo(1000);
        assertThat(latencies.sumNanos()).isEqualTo(500_500_000);
        assertThat(latencies.quantileNanos(0.5)).isBetween(500_000L, 625_000L);
        assertThat(latencies.quantileNanos(0.99)).isBetween(990_000L, 1_250_000L);
        assertThat(metrics.latencies(Opcode.WRITE).quantileNanos(0.5)).isZero();
    }

    @Test
    void aRequestInThePoolsQueueKeepsNoThreadBusy() {
        SessionMetrics metrics = new SessionMetrics(Clock.system());
        metrics.requestBegan();
        assertThat(metrics.workersBusy()).isEqualTo(1);
        metrics.requestHandedOver();
        assertThat(metrics.workersBusy()).isZero();
        assertThat(metrics.inFlight()).isEqualTo(1);
        metrics.requestResumed();
        assertThat(metrics.workersBusy()).isEqualTo(1);
        metrics.requestEnded(Opcode.READ, 0, 1);
        assertThat(metrics.workersBusy()).isZero();
        assertThat(metrics.inFlight()).isZero();
    }

    @Test
    void whatManyThreadsCountAddsUp() throws InterruptedException {
        SessionMetrics metrics = new SessionMetrics(Clock.system(), 4);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Thread thread = new Thread(() -> {
                metrics.workerStarted();
                for (int k = 0; k < 10_000; k++) {
                    metrics.requestBegan();
                    metrics.requestEnded(Opcode.OPEN, k % 10 == 0 ? 2 : 0, k);
                    metrics.bytesRead(3);
                }
                metrics.workerEnded();
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(metrics.requests(Opcode.OPEN)).isEqualTo(80_000);
        assertThat(metrics.errors(Opcode.OPEN, 2)).isEqualTo(8_000);
        assertThat(metrics.bytesRead()).isEqualTo(240_000);
        assertThat(metrics.inFlight()).isZero();
        assertThat(metrics.workersBusy()).isZero();
        assertThat(metrics.workersCreated()).isEqualTo(8);
        assertThat(metrics.workersAlive()).isZero();
    }
}
