package io.posixgateway.fuse.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.time.ManualClock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a transport leaves that never began to serve, as that of a takeover which failed. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DevFuseTransportTest {
    private static final int NO_FD = -1;

    @Test
    void closingOneThatWasNotStartedWaitsForNobodyAndLeavesNoMemory() throws IOException {
        TransportConfig sizes = new TransportConfig(1 << 20, 4, 8, 0, false);
        SessionMetrics metrics = new SessionMetrics(new ManualClock());
        long before = mappedBytes();
        DevFuseTransport transport = DevFuseTransport.kept(NO_FD, NO_FD, true, sizes, metrics);
        assertThat(mappedBytes()).isGreaterThan(before + (64 << 20));
        transport.close();
        assertThat(mappedBytes()).isLessThan(before + (64 << 20));
    }

    private static long mappedBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/statm"), StandardCharsets.US_ASCII).stream()
                .mapToLong(line -> Long.parseLong(line.split(" ", -1)[0]) * 4096)
                .sum();
    }
}
