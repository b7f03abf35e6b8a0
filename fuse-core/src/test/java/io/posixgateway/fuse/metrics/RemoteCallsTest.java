package io.posixgateway.fuse.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.time.ManualClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RemoteCallsTest {
    private final ManualClock clock = new ManualClock();
    private final RemoteCalls calls = new RemoteCalls(Thread.currentThread(), clock);

    @AfterEach
    void noInterruptIsLeft() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void aThreadIsInterruptedInsideACallOnlyAndNotBeforeItsTime() {
        assertThat(calls.interrupt(0)).isFalse();
        calls.begin();
        clock.advanceNanos(5);
        assertThat(calls.interrupt(10)).isFalse();
        clock.advanceNanos(5);
        assertThat(calls.interrupt(10)).isTrue();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(calls.end()).isTrue();
        assertThat(calls.interrupt(0)).isFalse();
    }

    @Test
    void theInterruptOfOneCallDoesNotReachTheNext() {
        calls.begin();
        clock.advanceNanos(1);
        assertThat(calls.interrupt(1)).isTrue();
        assertThat(calls.end()).isTrue();
        calls.begin();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(calls.end()).isFalse();
    }

    @Test
    void aCallInsideAnotherIsCountedOnce() {
        calls.begin();
        clock.advanceNanos(3);
        calls.begin();
        clock.advanceNanos(4);
        assertThat(calls.runningNanos()).isEqualTo(7);
        calls.end();
        calls.end();
        assertThat(calls.takeNanos()).isEqualTo(7);
        assertThat(calls.takeNanos()).isZero();
        assertThat(calls.runningNanos()).isZero();
    }

    @Test
    void anUnlimitedPartOfACallDoesNotCountForItsLimitsAndIsInterruptedAsAnyOther() {
        calls.begin();
        clock.advanceNanos(3);
        calls.beginUnlimited();
        assertThat(calls.isUnlimited()).isTrue();
        clock.advanceNanos(100);
        assertThat(calls.runningNanos()).isEqualTo(103);
        calls.endUnlimited();
        assertThat(calls.isUnlimited()).isFalse();
        clock.advanceNanos(5);
        assertThat(calls.runningNanos()).isEqualTo(5);
        calls.beginUnlimited();
        clock.advanceNanos(2);
        assertThat(calls.interrupt(1)).isTrue();
        calls.endUnlimited();
        assertThat(calls.end()).isTrue();
        assertThat(calls.takeNanos()).isEqualTo(110);
    }
}
