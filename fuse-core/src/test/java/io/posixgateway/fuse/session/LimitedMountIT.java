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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A mount whose bytes are limited: a program that a limit holds up can be killed, on each transport. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LimitedMountIT {
    private static final int MIB = 1 << 20;
    private static final int READERS = 40;
    /** Of each. The limit lets one through in a second. */
    private static final int FILE_MIB = 4;
    /** Far less than the last reader is to wait: a second for each MiB of each. */
    private static final int SOON_SECONDS = 60;

    @ParameterizedTest
    @EnumSource(
            value = TransportChoice.class,
            names = {"DEVFUSE", "URING"})
    void readers_thatALimitHoldsUp_canBeKilled(TransportChoice transport, @TempDir Path folder) throws Exception {
        try (FuseSession session = mount(folder, transport)) {
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

    private static FuseSession mount(Path folder, TransportChoice transport) throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "this machine has no /dev/fuse");
        if (transport == TransportChoice.URING) {
            UringSupport.assume();
        }
        return FuseSession.mount(
                new NullFileSystem(READERS, FILE_MIB * MIB),
                folder,
                Sessions.options(transport).within(new RateLimit(MIB, 0)));
    }
}
