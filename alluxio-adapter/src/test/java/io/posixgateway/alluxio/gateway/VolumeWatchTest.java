package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.RunningListings;
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.metrics.CallerProcess;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class VolumeWatchTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long NODE = 7;

    private final List<InFlightRequest> requests = new ArrayList<>();
    private final List<Long> interrupted = new ArrayList<>();
    private CallerProcess.State caller = CallerProcess.State.KILLED;
    private int aborts;
    private int refusedAborts;

    private final class Requests implements VolumeWatch.Watched {
        @Override
        public List<InFlightRequest> inFlight(long atLeastNanos) {
            return requests.stream()
                    .filter(request -> request.ageNanos() >= atLeastNanos)
                    .toList();
        }

        @Override
        public boolean interrupt(long unique, long atLeastNanos) {
            interrupted.add(unique);
            return true;
        }

        @Override
        public void abort() throws IOException {
            if (refusedAborts-- > 0) {
                throw new IOException("mount fusectl");
            }
            aborts++;
        }

        @Override
        public List<RunningListings.Listing> copies(long atLeastNanos) {
            return List.of();
        }

        @Override
        public List<RunningListings.Listing> listings(long atLeastNanos) {
            return List.of();
        }

        @Override
        public CallerProcess.State caller(int pid) {
            return caller;
        }

        @Override
        public String pathOf(long node) {
            if (node != NODE) {
                throw new IllegalStateException("nobody expects this");
            }
            return "/a/file";
        }
    }

    private VolumeWatch watch(long slowSeconds, long interruptSeconds, long abortSeconds) {
        return new VolumeWatch(
                "vol",
                new WatchLimits(slowSeconds * SECOND, interruptSeconds * SECOND, abortSeconds * SECOND),
                new Requests());
    }

    private void request(long unique, long ageSeconds, long remoteSeconds) {
        request(unique, Opcode.READ, false, ageSeconds, remoteSeconds);
    }

    private void request(long unique, Opcode opcode, boolean signalled, long ageSeconds, long remoteSeconds) {
        request(unique, opcode, signalled, ageSeconds, remoteSeconds, NODE);
    }

    /** The upload of a file, or the copy of one, which takes as long as it takes; its program got a signal. */
    private void signalledCopy(long unique, Opcode opcode) {
        requests.add(new InFlightRequest(
                unique, opcode, NODE, 42, true, 60 * SECOND, 60 * SECOND, true, Thread.currentThread()));
    }

    private void request(
            long unique, Opcode opcode, boolean signalled, long ageSeconds, long remoteSeconds, long node) {
        requests.add(new InFlightRequest(
                unique,
                opcode,
                node,
                42,
                signalled,
                ageSeconds * SECOND,
                remoteSeconds * SECOND,
                opcode == Opcode.READDIRPLUS,
                Thread.currentThread()));
    }

    @Test
    void a_slow_request_is_counted_once_and_shown_as_long_as_it_lasts() {
        VolumeWatch watch = watch(30, 0, 0);
        request(1, 31, 0);
        request(2, 29, 0);
        watch.look();
        watch.look();
        assertThat(watch.slow()).isEqualTo(1);
        assertThat(watch.slowNow()).isEqualTo(1);
        requests.clear();
        watch.look();
        assertThat(watch.slow()).isEqualTo(1);
        assertThat(watch.slowNow()).isZero();
    }

    @Test
    void only_a_call_that_takes_too_long_by_itself_is_interrupted() {
        VolumeWatch watch = watch(0, 60, 0);
        request(1, 600, 10);
        request(2, 90, 61);
        watch.look();
        assertThat(interrupted).containsExactly(2L);
        assertThat(watch.interrupted()).isEqualTo(1);
    }

    @Test
    void a_program_that_got_a_signal_does_not_wait_long_but_its_data_get_more_time() {
        VolumeWatch watch = watch(0, 0, 0);
        request(1, Opcode.LOOKUP, false, 60, 60);
        request(2, Opcode.LOOKUP, true, 3, 3);
        request(3, Opcode.LOOKUP, true, 60, 1);
        request(4, Opcode.FLUSH, true, 9, 9);
        request(5, Opcode.FLUSH, true, 11, 11);
        watch.look();
        assertThat(interrupted).containsExactly(2L, 5L);
    }

    @Test
    void further_calls_of_a_request_whose_program_got_a_signal_get_no_more_time_of_the_first() {
        VolumeWatch watch = watch(0, 0, 0);
        request(1, Opcode.FLUSH, true, 11, 11);
        watch.look();
        requests.clear();
        request(1, Opcode.FLUSH, true, 12, 1);
        watch.look();
        assertThat(interrupted).containsExactly(1L);
        requests.clear();
        request(1, Opcode.FLUSH, true, 14, 3);
        request(2, Opcode.FLUSH, true, 14, 3);
        watch.look();
        assertThat(interrupted).containsExactly(1L, 1L);
        assertThat(watch.interrupted()).isEqualTo(2);
    }

    @Test
    void a_listing_that_takes_ten_minutes_is_neither_interrupted_nor_aborts_the_mount_but_ends_with_its_program() {
        VolumeWatch watch = watch(0, 300, 540);
        request(1, Opcode.READDIRPLUS, false, 600, 600);
        watch.look();
        assertThat(interrupted).isEmpty();
        assertThat(aborts).isZero();
        requests.clear();
        request(1, Opcode.READDIRPLUS, true, 601, 601);
        watch.look();
        assertThat(interrupted).containsExactly(1L);
    }

    @Test
    void a_signal_that_a_program_handles_ends_no_upload_and_no_copy() {
        VolumeWatch watch = watch(0, 300, 540);
        caller = CallerProcess.State.LIVES;
        signalledCopy(1, Opcode.FLUSH);
        signalledCopy(2, Opcode.FSYNC);
        signalledCopy(3, Opcode.RENAME);
        request(4, Opcode.WRITE, true, 60, 60);
        watch.look();
        assertThat(interrupted).isEmpty();
        caller = CallerProcess.State.UNSEEN;
        watch.look();
        assertThat(interrupted).as("what carries no data").containsExactly(3L);
        caller = CallerProcess.State.KILLED;
        watch.look();
        assertThat(interrupted).contains(1L, 2L, 4L);
    }

    @Test
    void the_connection_is_aborted_once_and_only_where_that_is_configured() {
        request(1, 1000, 1000);
        VolumeWatch never = watch(1, 0, 0);
        never.look();
        assertThat(aborts).isZero();
        VolumeWatch last = watch(1, 0, 999);
        last.look();
        last.look();
        assertThat(aborts).isEqualTo(1);
        assertThat(last.aborts()).isEqualTo(1);
    }

    /** As where fusectl is not mounted: the log says so, and somebody mounts it. */
    @Test
    void an_abort_that_fails_is_tried_again() {
        refusedAborts = 2;
        request(1, 1000, 1000);
        VolumeWatch watch = watch(1, 0, 999);
        watch.look();
        watch.look();
        assertThat(aborts).isZero();
        watch.look();
        watch.look();
        assertThat(aborts).isEqualTo(1);
        assertThat(watch.aborts()).isEqualTo(1);
    }

    @Test
    void a_request_that_cannot_be_described_keeps_no_other_from_being_interrupted() {
        VolumeWatch watch = watch(30, 60, 0);
        request(1, Opcode.READ, false, 90, 90, NODE + 1);
        request(2, 90, 90);
        watch.look();
        assertThat(interrupted).containsExactly(1L, 2L);
        assertThat(watch.slow()).isEqualTo(2);
    }
}
