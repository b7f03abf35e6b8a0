package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a command says when the gateway does not do what it requested. */
class ControlClientTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void explained_ofAnExceededDeadline_saysWhatToCheck() throws IOException {
        Path socket = Files.createFile(folder.resolve("control.sock"));
        try (ControlClient client = new ControlClient(socket)) {
            assertThat(client.explained(Status.DEADLINE_EXCEEDED
                            .withDescription("CallOptions deadline exceeded after 29.9s")
                            .asRuntimeException()))
                    .hasMessage(
                            "the gateway at " + socket + " did not respond within 30 s; check whether Alluxio answers,"
                                    + " and see the gateway's log");
        }
    }
}
