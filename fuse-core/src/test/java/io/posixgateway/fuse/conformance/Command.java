package io.posixgateway.fuse.conformance;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program run by a test; killed when the test ends first. */
public final class Command implements AutoCloseable {
    private final List<String> words;
    private final Path output;
    private final Process process;

    /** Starts it; its standard output and error are gathered together. */
    public Command(String... words) throws IOException {
        this.words = List.of(words);
        output = Files.createTempFile("posix-gateway-test", ".out");
        ProcessBuilder builder =
                new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
        builder.environment().put("LC_ALL", "C.UTF-8");
        process = builder.start();
    }

    /** Runs it to its end and gives what it printed; fails when it fails, or takes longer than this. */
    public static String run(int seconds, String... words) throws IOException, InterruptedException {
        try (Command command = new Command(words)) {
            int status = command.await(seconds);
            if (status != 0) {
                throw new AssertionError(command + " ended with " + status + ":\n" + command.output());
            }
            return command.output();
        }
    }

    /** Is this program installed? */
    public static boolean exists(String program) {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            if (Files.isExecutable(Path.of(folder, program))) {
                return true;
            }
        }
        return false;
    }

    /** Its exit status. */
    public int await(int seconds) throws InterruptedException {
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            throw new AssertionError(this + " did not end within " + seconds + " s; so far:\n" + output()
                    + "\nmeanwhile here:\n" + ownStacks());
        }
        return process.exitValue();
    }

    /** Sends a line to its standard input. */
    public void tell(String line) throws IOException {
        BufferedWriter writer = process.outputWriter(StandardCharsets.UTF_8);
        writer.write(line + "\n");
        writer.flush();
    }

    /** What it has printed. */
    public String output() {
        try (InputStreamReader reader = new InputStreamReader(Files.newInputStream(output), StandardCharsets.UTF_8)) {
            StringBuilder text = new StringBuilder();
            char[] part = new char[8192];
            for (int count = reader.read(part); count >= 0; count = reader.read(part)) {
                text.append(part, 0, count);
            }
            return text.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What threads of this JVM, which may be the server that is waited for, do in this project's code. */
    private static String ownStacks() {
        StringBuilder text = new StringBuilder();
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            if (Arrays.stream(frames).anyMatch(frame -> frame.getClassName().startsWith("io.posixgateway"))) {
                text.append(thread.getName()).append('\n');
                Arrays.stream(frames)
                        .forEach(frame -> text.append("  ").append(frame).append('\n'));
            }
        });
        return text.toString();
    }

    @Override
    public String toString() {
        return String.join(" ", words);
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        Files.deleteIfExists(output);
    }
}
