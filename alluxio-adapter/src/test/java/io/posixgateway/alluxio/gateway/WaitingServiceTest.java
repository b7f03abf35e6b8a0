package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.serve.GatewayService;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that waits for the end of the one that leads, and cannot serve when that comes. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitingServiceTest {
    private static final String LEADER = "import fcntl, sys\nfile = open(sys.argv[1], 'r+')\n"
            + "fcntl.lockf(file, fcntl.LOCK_EX)\nprint(flush=True)\nsys.stdin.read()";

    /** Of no interface here; an address of documentation. */
    @SuppressWarnings("serial")
    private static final class Unspeakable extends InetSocketAddress {
        Unspeakable() {
            super("198.51.100.1", 9);
        }

        @Override
        public String toString() {
            throw new IllegalStateException("nobody expects this");
        }
    }

    /** It holds the lead: as long as it lives no other process serves. */
    @Test
    void aProcess_thatFailsUnexpectedlyWhenItIsToServe_ends(@TempDir Path folder) throws Exception {
        Path lead = Files.createFile(folder.resolve("lead"));
        Process leader = new ProcessBuilder("python3", "-c", LEADER, lead.toString()).start();
        GatewayService.Addresses addresses = new GatewayService.Addresses(
                folder.resolve("control.sock"), Path.of(""), new Unspeakable(), lead, folder, Path.of(""));
        try {
            assertThat(leader.getInputStream().read()).isEqualTo('\n');
            FileSystemFactory source = new FileSystemFactory(null, folder.resolve("spool"), Clock.system());
            try (GatewayService service =
                    GatewayService.start(source, addresses, "test", new GatewayService.Mode(true, false))) {
                leader.destroy();
                assertThatThrownBy(service::awaitEnd)
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("cannot serve")
                        .hasMessageContaining("nobody expects this");
            }
        } finally {
            leader.destroy();
        }
    }
}
