package io.posixgateway.alluxio.cli;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Serving behind the shell's back: the command starts itself again, in a session of its own, and returns when that child
 * says that the mount answers, or why it does not.
 *
 * <p>The child's standard error goes to a log file. Its standard output is a pipe to the parent that carries one line,
 * {@code ready …} or {@code failed …}, and is then closed.
 */
final class Background {
    /** Set in the child's environment. */
    private static final String CHILD = "POSIX_GATEWAY_BACKGROUND_CHILD";

    private static final String READY = "ready ";
    private static final String FAILED = "failed ";
    private static final long PATIENCE_SECONDS = 300;

    private Background() {}

    /** Is this process such a child? */
    static boolean isChild() {
        return System.getenv(CHILD) != null;
    }

    /** In the child, once the mount answers; elsewhere does nothing. */
    static void reportReady(String line) {
        report(READY + line);
    }

    /** In the child, when it gives up; elsewhere does nothing. */
    static void reportFailure(String text) {
        report(FAILED + text);
    }

    private static void report(String line) {
        if (isChild()) {
            System.out.println(line.replace('\n', ' '));
            System.out.flush();
            System.out.close();
        }
    }

    /**
     * Starts this process's command once more, and waits until it is ready.
     *
     * @return the line it was ready with
     * @throws CommandException with what the child said when it failed
     */
    static String start(Path logFile) {
        Process child = spawn(logFile);
        Thread ender = new Thread(child::destroyForcibly, "end-child");
        Runtime.getRuntime().addShutdownHook(ender);
        String line = answer(child, logFile);
        if (line != null && line.startsWith(READY)) {
            Runtime.getRuntime().removeShutdownHook(ender);
            return line.substring(READY.length());
        }
        child.destroyForcibly();
        throw new CommandException(
                line != null && line.startsWith(FAILED)
                        ? line.substring(FAILED.length())
                        : "the serving process ended before the mount was ready; see the last lines of its log, "
                                + logFile);
    }

    private static Process spawn(Path logFile) {
        try {
            Files.createDirectories(logFile.toAbsolutePath().getParent());
            List<String> command = new ArrayList<>(List.of("setsid"));
            command.addAll(ownCommand());
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectInput(new File("/dev/null"))
                    .redirectError(ProcessBuilder.Redirect.appendTo(logFile.toFile()));
            builder.environment().put(CHILD, "1");
            return builder.start();
        } catch (IOException e) {
            throw new CommandException(
                    "the serving process cannot be started: " + e.getMessage()
                            + "; give --foreground, or another --log-file",
                    e);
        }
    }

    private static @Nullable String answer(Process child, Path logFile) {
        CompletableFuture<@Nullable String> line = CompletableFuture.supplyAsync(() -> {
            try (BufferedReader output =
                    new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
                return output.readLine();
            } catch (IOException e) {
                return null;
            }
        });
        try {
            return line.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        } catch (ExecutionException e) {
            return null;
        } catch (TimeoutException e) {
            return FAILED + "the mount was not ready within " + PATIENCE_SECONDS + " s; see its log for the reason: "
                    + logFile;
        }
    }

    /** How this very process was started. */
    private static List<String> ownCommand() throws IOException {
        String whole = Files.readString(Path.of("/proc/self/cmdline"), StandardCharsets.UTF_8);
        List<String> words = new ArrayList<>(List.of(whole.split("\0", -1)));
        words.remove(words.size() - 1);
        words.set(0, Path.of("/proc/self/exe").toRealPath().toString());
        return words;
    }
}
