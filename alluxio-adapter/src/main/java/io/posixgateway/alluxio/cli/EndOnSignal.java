package io.posixgateway.alluxio.cli;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Lets Ctrl-C and SIGTERM end a command in its own way, with its own exit code: Java's would be 130 or 143 however well it went. From
 * its making until it is closed.
 *
 * <p>The virtual machine runs hooks at a signal and then ends with the signal's code, unless a hook ends it before. So this one waits for
 * the code of {@link Main}.
 */
final class EndOnSignal implements AutoCloseable {
    private static final int INTERRUPTED = 130;
    /** For what a command does after it was ended: it prints, and removes a socket. */
    private static final long LAST_SECONDS = 10;
    /** Of this process's command. */
    private static final CompletableFuture<Integer> CODE = new CompletableFuture<>();

    private final Thread hook;

    private EndOnSignal(Runnable work, String name) {
        hook = new Thread(work, name);
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** @param end lets the command return, and waits for whatever may take long; on another thread */
    static EndOnSignal with(String name, Runnable end) {
        return new EndOnSignal(
                () -> {
                    end.run();
                    Runtime.getRuntime().halt(code());
                },
                name);
    }

    /** For a command that goes on until then, and leaves nothing to be ended: it was done well. */
    static EndOnSignal atOnce() {
        return new EndOnSignal(() -> Runtime.getRuntime().halt(0), "end");
    }

    /** The end of {@link Main}. */
    static void exit(int code) {
        CODE.complete(code);
        System.exit(code);
    }

    private static int code() {
        try {
            return CODE.get(LAST_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            return INTERRUPTED;
        }
    }

    /** The signal has its usual effect again, unless it came already. */
    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The process is ending already, by the hook.
        }
    }
}
