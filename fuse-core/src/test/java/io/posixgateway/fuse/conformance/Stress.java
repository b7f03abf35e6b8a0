package io.posixgateway.fuse.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Random operations against a model of what they must do. */
public final class Stress {
    private static final int SECONDS = 240;

    private Stress() {}

    /** Lets several processes work side by side, each in a folder of its own; fails with a seed when one finds a difference. */
    public static void run(Path directory, int processes, int operations, long seed)
            throws IOException, InterruptedException {
        List<Command> running = new ArrayList<>();
        try (Scripts scripts = new Scripts()) {
            for (int i = 0; i < processes; i++) {
                String folder = directory.resolve("stress-" + i).toString();
                running.add(
                        new Command("python3", scripts.path("stress.py"), folder, "" + (seed + i), "" + operations));
            }
            for (Command command : running) {
                assertThat(command.await(SECONDS)).as(command.output()).isZero();
            }
        } finally {
            for (Command command : running) {
                command.close();
            }
        }
    }
}
