package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.mounted.LogLines;
import io.posixgateway.fuse.dispatch.RequestRecord;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An access log on a disk that is full, and then is not. */
class AccessLogFileTest {
    private static final Path FULL_DISK = Path.of("/dev/full");

    @TempDir
    private Path folder = Path.of("");

    private final AccessQueue queue = new AccessQueue(2);

    private Path file() {
        return folder.resolve("access.log");
    }

    private void request(String name) {
        queue.offer(new RequestRecord(0, Opcode.LOOKUP, 1, 0, 0, 0, name, -1, -1, 0, 0, 0));
    }

    private void diskIsFull() throws IOException {
        Files.deleteIfExists(file());
        Files.createSymbolicLink(file(), FULL_DISK);
    }

    private void diskHasRoom() throws IOException {
        Files.delete(file());
    }

    private List<String> names() throws IOException {
        return Files.readAllLines(file()).stream()
                .map(line -> line.replaceAll(".*\\(1,(.*)\\): .*", "$1"))
                .toList();
    }

    @Test
    void drain_afterTheDiskWasFull_writesWhatWaitedAndWhatComes() throws IOException {
        diskIsFull();
        try (LogLines log = new LogLines()) {
            AccessLogFile out = new AccessLogFile(file(), queue);
            request("a");
            out.drain();
            request("b");
            request("c");
            request("dropped");
            out.drain();
            assertThat(log.with("cannot be written")).hasSize(1);
            diskHasRoom();
            out.drain();
            assertThat(names()).containsExactly("a", "b", "c");
            assertThat(queue.dropped()).isEqualTo(1);
            assertThat(log.with("is written again; 1 lines were dropped")).hasSize(1);
            request("d");
            out.drain();
            assertThat(names()).containsExactly("a", "b", "c", "d");
            assertThat(out.close()).isZero();
        }
    }

    @Test
    void everyOutageIsLoggedOnce() throws IOException {
        try (LogLines log = new LogLines()) {
            AccessLogFile out = new AccessLogFile(file(), queue);
            for (int outage = 1; outage <= 2; outage++) {
                out.close();
                diskIsFull();
                request("a");
                out.drain();
                out.drain();
                assertThat(log.with("cannot be written")).hasSize(outage);
                diskHasRoom();
                out.drain();
                assertThat(names()).containsExactly("a");
            }
        }
    }

    @Test
    void close_whileTheDiskIsFull_countsWhatIsLost() throws IOException {
        diskIsFull();
        AccessLogFile out = new AccessLogFile(file(), queue);
        request("a");
        out.drain();
        request("b");
        assertThat(out.close()).isEqualTo(2);
    }
}
