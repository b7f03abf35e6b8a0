package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A program that a test runs as a process of its own; its output goes to a file. Ended with the test, whatever happens, and with this JVM,
 * unless that is killed.
 */
public final class Program implements AutoCloseable {
    private static final Set<Process> STARTED = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> STARTED.forEach(Process::destroyForcibly)));
    }

    private final Process process;
    private final Path output;

    private Program(Process process, Path output) {
        this.process = process;
        this.output = output;
        STARTED.add(process);
    }

    /** Starts it; standard output and error go together into a new file in the folder. */
    public static Program start(Path folder, List<String> command) throws IOException {
        Path output = Files.createTempFile(folder, "program-", ".out");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        process.getOutputStream().close();
        return new Program(process, output);
    }

    /**
     * Starts a process that becomes the program that {@link #begin} names, with these arguments and, where it is a gateway, these
     * options of its JVM. To be used where the mounts that it is to serve have open files in this process: a child closes copies
     * of those before it begins, and that waits until somebody serves.
     */
    static Program toBe(Path folder, String javaOptions, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(
                List.of("/bin/sh", "-c", "read -r program && exec /usr/bin/env \"$0\" \"$program\" \"$@\""));
        command.add("POSIX_GATEWAY_JAVA_OPTS=" + javaOptions);
        command.addAll(arguments);
        Path output = Files.createTempFile(folder, "program-", ".out");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        return new Program(process, output);
    }

    /** Lets what {@link #toBe} started go on, as this program. */
    void begin(Path program) throws IOException {
        process.getOutputStream().write((program + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().close();
    }

    /** Starts {@code posix-gateway} with these arguments. */
    public static Program gateway(Path folder, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(Built.gateway().toString()));
        command.addAll(List.of(arguments));
        return start(folder, command);
    }

    /** The same with these options of the JVM, split at blanks. */
    public static Program gatewayWith(Path folder, String javaOptions, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("/usr/bin/env", "POSIX_GATEWAY_JAVA_OPTS=" + javaOptions));
        command.add(Built.gateway().toString());
        command.addAll(List.of(arguments));
        return start(folder, command);
    }

    /** Waits for its end; its exit code. */
    public int await(Duration limit) throws InterruptedException, IOException {
        if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("did not end within " + limit.toSeconds() + " s; it said:\n" + output());
        }
        return process.exitValue();
    }

    /** Waits until it has printed this. */
    public void awaitOutput(String text, Duration limit) throws Exception {
        Waiting.until("'" + text + "' in the output of " + process.info().command(), limit, () -> {
            if (!process.isAlive() && !output().contains(text)) {
                throw new AssertionError(
                        "ended with " + process.exitValue() + " before it said '" + text + "':\n" + output());
            }
            return output().contains(text);
        });
    }

    /** What it has printed so far. */
    public String output() throws IOException {
        return Files.readString(output);
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    public long pid() {
        return process.pid();
    }

    /** Memory that is in use by it now. */
    public long residentKb() throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid() + "/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    /** kill -9. Fails, and says what its threads wait for, if that does not end it. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            throw new AssertionError("process " + pid() + " does not end though it was killed:" + threads());
        }
    }

    /** Name, state and place in the kernel of each thread. */
    private String threads() {
        StringBuilder text = new StringBuilder();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/" + pid() + "/task"))) {
            for (Path task : tasks) {
                text.append('\n').append(Files.readString(task.resolve("stat")));
                text.append(Files.readString(task.resolve("wchan")));
            }
        } catch (IOException e) {
            text.append(e);
        }
        return text.toString();
    }

    /** SIGTERM. */
    public void terminate() {
        process.destroy();
    }

    @Override
    public void close() {
        try {
            process.destroy();
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                kill();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
