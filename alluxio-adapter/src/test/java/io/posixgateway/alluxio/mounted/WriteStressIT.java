package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Random operations on open files agree with a model, on the mount and at last in the under file system. */
class WriteStressIT {
    private static final int PROCESSES = 3;
    private static final int SECONDS = Integer.getInteger("pgw.stress.seconds", 8);
    private static final int END_SECONDS = 180;
    private static final long SEED = Long.getLong("pgw.seed", System.nanoTime()) % 1_000_000;

    @Test
    void randomOperationsOnOpenFilesAgreeWithAModel() throws Exception {
        URL script = Objects.requireNonNull(WriteStressIT.class.getResource("/stress_writes.py"));
        String folder = SharedAlluxio.folder();
        List<Command> running = new ArrayList<>();
        try (MountedFileSystem mounted = MountedFileSystem.mount(
                SharedAlluxio.open(folder, Map.of("stream_from", "100K")), TransportChoice.AUTO)) {
            try {
                for (int i = 0; i < PROCESSES; i++) {
                    String name = "stress-" + i;
                    running.add(new Command(
                            "python3",
                            Path.of(script.toURI()).toString(),
                            mounted.root().resolve(name).toString(),
                            SharedAlluxio.ufs(folder).resolve(name).toString(),
                            Long.toString(SEED + i),
                            Integer.toString(SECONDS)));
                }
                for (Command command : running) {
                    assertThat(command.await(SECONDS + END_SECONDS))
                            .as(command.output())
                            .isZero();
                }
            } finally {
                for (Command command : running) {
                    command.close();
                }
            }
        }
    }
}
