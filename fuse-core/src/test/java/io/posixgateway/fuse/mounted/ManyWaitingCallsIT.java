package io.posixgateway.fuse.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.testing.FaultyFileSystem;
import io.posixgateway.fuse.testing.NullFileSystem;
import io.posixgateway.fuse.wire.Opcode;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;

/**
 * More calls than a transport has threads and slots wait for something that does not come: others are served beside them, and who is
 * killed ends.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyWaitingCallsIT {
    private static final int CALLS = 400;
    private static final int SOON_SECONDS = 60;
    /** So many looks in a row see as many calls. */
    private static final int STEADILY = 50;

    private static final String CALLERS = """
            import os, sys, threading
            for i in range(int(sys.argv[2])):
                threading.Thread(target=os.stat, args=(f"{sys.argv[1]}/slow{i}",)).start()
            """;

    /** What is called slow is looked up for an hour. */
    private static final class SlowNames extends FaultyFileSystem {
        private static final Fault AN_HOUR = delay(Duration.ofHours(1).toNanos());

        SlowNames() {
            super(new NullFileSystem(1, 10), NO_FAULT);
        }

        @Override
        public int lookup(Request request, long parent, Name name, Entry entry) {
            int struck = name.at(0) == 's' ? AN_HOUR.strike(Opcode.LOOKUP, request) : 0;
            return struck != 0 ? struck : super.lookup(request, parent, name, entry);
        }
    }

    @EachTransport
    void quickCallsAreAnsweredBesideThemAndKilledOnesEnd(TransportChoice transport) throws Exception {
        try (MountedFileSystem mounted = MountedFileSystem.mount(new SlowNames(), transport)) {
            String root = mounted.root().toString();
            Command callers = new Command("python3", "-c", CALLERS, root, Integer.toString(CALLS));
            try {
                awaitSteady(mounted);
                try (Command quick = new Command("stat", root + "/f0")) {
                    assertThat(quick.await(SOON_SECONDS)).isZero();
                }
            } finally {
                callers.close();
            }
            callers.await(SOON_SECONDS);
            assertThat(mounted.session().ended()).isFalse();
        }
    }

    /** Until all calls wait, or all that the transport takes. */
    private static void awaitSteady(MountedFileSystem mounted) throws InterruptedException {
        long[] seenAndTimes = {0, 0};
        Eventually.holds("calls wait", () -> {
            long now = mounted.session().metrics().inFlight();
            seenAndTimes[1] = now == seenAndTimes[0] ? seenAndTimes[1] + 1 : 0;
            seenAndTimes[0] = now;
            return now > 1 && seenAndTimes[1] >= STEADILY;
        });
    }
}
