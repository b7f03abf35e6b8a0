package io.posixgateway.fuse.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RemoteCallsTest {
    private final AtomicLong nanos = new AtomicLong();
    private final RemoteCalls calls = new RemoteCalls(Thread.currentThread(), nanos::get);

    @AfterEach
    void noInterruptIsLeft() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void aThreadIsInterruptedInsideACallOnlyAndNotBeforeItsTime() {
        assertThat(calls.interrupt(0)).isFalse();
        calls.begin();
        nanos.addAndGet(5);
        assertThat(calls.interrupt(10)).isFalse();
        nanos.addAndGet(5);
        assertThat(calls.interrupt(10)).isTrue();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(calls.end()).isTrue();
        assertThat(calls.interrupt(0)).isFalse();
    }

    @Test
    void theInterruptOfOneCallDoesNotReachTheNext() {
        calls.begin();
        nanos.addAndGet(1);
        assertThat(calls.interrupt(1)).isTrue();
        assertThat(calls.end()).isTrue();
        calls.begin();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(calls.end()).isFalse();
    }

    @Test
    void aCallInsideAnotherIsCountedOnce() {
        calls.begin();
        nanos.addAndGet(3);
        calls.begin();
        nanos.addAndGet(4);
        assertThat(calls.runningNanos()).isEqualTo(7);
        calls.end();
        calls.end();
        assertThat(calls.takeNanos()).isEqualTo(7);
        assertThat(calls.takeNanos()).isZero();
        assertThat(calls.runningNanos()).isZero();
    }
}
