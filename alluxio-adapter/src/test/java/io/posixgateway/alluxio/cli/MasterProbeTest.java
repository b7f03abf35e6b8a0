package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class MasterProbeTest {
    private static final int TIMEOUT_MILLIS = 10_000;
    /** Nobody listens there. */
    private static final String CLOSED = "127.0.0.1:1";

    @Test
    void unreachable_whenNobodyListens_namesEachMasterWithTheReason() {
        assertThat(MasterProbe.unreachable(CLOSED, TIMEOUT_MILLIS)).isEqualTo(CLOSED + " (Connection refused)");
        assertThat(MasterProbe.unreachable(CLOSED + ",[::1]:1", TIMEOUT_MILLIS))
                .startsWith(CLOSED + " (Connection refused), [::1]:1 (");
    }

    @Test
    void unreachable_whenOneOfThemListens_isNull() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String open = "127.0.0.1:" + server.getLocalPort();
            assertThat(MasterProbe.unreachable(open, TIMEOUT_MILLIS)).isNull();
            assertThat(MasterProbe.unreachable(CLOSED + "," + open, TIMEOUT_MILLIS))
                    .isNull();
        }
    }
}
