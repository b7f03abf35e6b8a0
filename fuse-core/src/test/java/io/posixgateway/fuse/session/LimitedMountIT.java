package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.UringSupport;
import io.posixgateway.fuse.dispatch.RateLimit;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.testing.NullFileSystem;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A mount whose bytes or requests are limited: a program that a limit holds up can be killed, on each transport. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LimitedMountIT {
    private static final int MIB = 1 << 20;
    private static final int READERS = 40;
    /** Of one program, at the same time. */
    private static final int CALLS = 400;

    /** So many looks in a row see as many calls; the limit lets one through in a second. */
    private static final int STEADILY = 50;

    private static final String CALLERS = """
            import os, sys, threading
            for i in range(int(sys.argv[2])):
                threading.Thread(target=os.stat, args=(f"{sys.argv[1]}/f{i}",)).start()
            """;

    private static final int WRITES = 100;

    private static final String WRITERS = """
            import mmap, os, sys, threading
            content = mmap.mmap(-1, 1 << 20)
            def write(i):
                os.write(os.open(f"{sys.argv[1]}/f{i}", os.O_WRONLY | os.O_DIRECT), content)
            for i in range(int(sys.argv[2])):
                threading.Thread(target=write, args=(i,)).start()
            """;

    /** Of each. The limit lets one through in a second. */
    private static final int FILE_MIB = 4;
    /** Far less than the last reader is to wait: a second for each MiB of each. */
    private static final int SOON_SECONDS = 60;

    @ParameterizedTest
    @EnumSource(
            value = TransportChoice.class,
            names = {"DEVFUSE", "URING"})
    void readers_thatALimitHoldsUp_canBeKilled(TransportChoice transport, @TempDir Path folder) throws Exception {
        try (FuseSession session = mount(folder, transport, new RateLimit(MIB, 0))) {
            List<Command> readers = new ArrayList<>();
            try {
                for (int i = 0; i < READERS; i++) {
                    readers.add(new Command(
                            "dd", "if=" + folder.resolve("f" + i), "of=/dev/null", "bs=1M", "iflag=direct"));
                }
                Eventually.holds("readers wait", () -> session.metrics().delayed() > 2);
            } finally {
                for (Command reader : readers) {
                    reader.close();
                }
            }
            Clock clock = Clock.system();
            long killed = clock.nanos();
            for (Command reader : readers) {
                int gone = (int) TimeUnit.NANOSECONDS.toSeconds(clock.nanos() - killed);
                reader.await(Math.max(0, SOON_SECONDS - gone));
            }
            assertThat(session.ended()).isFalse();
        }
    }

    /** More than the memory for delayed requests: every thread of the transport holds one up, until the first turn makes room. */
    @Test
    void writers_thatFillTheMemoryOfDelayedRequests_canBeKilled(@TempDir Path folder) throws Exception {
        try (FuseSession session = mount(folder, TransportChoice.DEVFUSE, new RateLimit(MIB, 0))) {
            Command writers = new Command("python3", "-c", WRITERS, folder.toString(), Integer.toString(WRITES));
            try {
                awaitSteady(session);
            } finally {
                writers.close();
            }
            writers.await(SOON_SECONDS);
            assertThat(session.ended()).isFalse();
        }
    }

    /** More than a transport has slots for: what interrupts those that came has to be read all the same. */
    @ParameterizedTest
    @EnumSource(
            value = TransportChoice.class,
            names = {"DEVFUSE", "LIBFUSE", "URING"})
    void manyRequests_thatALimitHoldsUp_endWithTheirProgram(TransportChoice transport, @TempDir Path folder)
            throws Exception {
        try (FuseSession session = mount(folder, transport, new RateLimit(0, 1))) {
            Command callers = new Command("python3", "-c", CALLERS, folder.toString(), Integer.toString(CALLS));
            try {
                awaitSteady(session);
            } finally {
                callers.close();
            }
            callers.await(SOON_SECONDS);
            assertThat(session.ended()).isFalse();
        }
    }

    /** Until all calls wait, or all that the transport takes. */
    private static void awaitSteady(FuseSession session) throws InterruptedException {
        long[] seenAndTimes = {0, 0};
        Eventually.holds("calls wait", () -> {
            long now = session.metrics().delayed();
            seenAndTimes[1] = now == seenAndTimes[0] ? seenAndTimes[1] + 1 : 0;
            seenAndTimes[0] = now;
            return now > 1 && seenAndTimes[1] >= STEADILY;
        });
    }

    private static FuseSession mount(Path folder, TransportChoice transport, RateLimit limit) throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "this machine has no /dev/fuse");
        if (transport == TransportChoice.URING) {
            UringSupport.assume();
        }
        return FuseSession.mount(
                new NullFileSystem(CALLS, FILE_MIB * MIB),
                folder,
                Sessions.options(transport).within(limit));
    }
}
