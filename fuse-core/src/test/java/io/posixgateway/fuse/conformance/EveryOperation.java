package io.posixgateway.fuse.conformance;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;

/** A process that opens what it needs, waits, and then tries each system call once. */
public final class EveryOperation implements AutoCloseable {
    private static final int SECONDS = 120;

    private final Scripts scripts = new Scripts();
    private final Command command;

    /** Prepares files in the directory, and waits. */
    public EveryOperation(Path directory) throws IOException, InterruptedException {
        command = new Command("python3", scripts.path("every_operation.py"), directory.toString());
        Eventually.holds("every_operation.py is ready", () -> command.output().contains("ready"));
    }

    /** Tries all; the error's name by operation, "ok" for success. */
    public Map<String, String> provoke() throws IOException, InterruptedException {
        command.tell("go");
        int status = command.await(SECONDS);
        if (status != 0) {
            throw new AssertionError(command + " ended with " + status + ":\n" + command.output());
        }
        return command.output()
                .lines()
                .filter(line -> line.startsWith("did "))
                .map(line -> line.split(" "))
                .collect(Collectors.toMap(words -> words[1], words -> words[2]));
    }

    @Override
    public void close() throws IOException {
        command.close();
        scripts.close();
    }
}
