package io.posixgateway.alluxio.cli;

import io.grpc.Context;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A call to the gateway that streams its progress until it is done or Ctrl-C ends it, there too. Once. */
final class StreamedCall {
    static final int INTERRUPTED = 130;
    private static final long LAST_WORDS_SECONDS = 2;

    private final CountDownLatch ended = new CountDownLatch(1);
    private final PrintWriter err;
    private final Supplier<String> lastWords;

    /** @param lastWords how far it came, and what that means, after Ctrl-C */
    StreamedCall(PrintWriter err, Supplier<String> lastWords) {
        this.err = err;
        this.lastWords = lastWords;
    }

    /**
     * Runs what follows the stream.
     *
     * @return its exit code, or {@link #INTERRUPTED}
     */
    int run(Target.Found found, Callable<Integer> follow) {
        try (Context.CancellableContext context = Context.current().withCancellation()) {
            Thread ender = new Thread(() -> interrupt(context), "cancel");
            Runtime.getRuntime().addShutdownHook(ender);
            try {
                return context.call(follow);
            } catch (StatusRuntimeException e) {
                if (context.isCancelled()) {
                    return INTERRUPTED;
                }
                throw found.client().explained(e);
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new CommandException(String.valueOf(e.getMessage()), e);
            } finally {
                ended.countDown();
                removeHook(ender);
            }
        }
    }

    /** The process was told to end: the gateway hears of it, and who waits is told how far it came. */
    private void interrupt(Context.CancellableContext context) {
        context.cancel(new CancellationException("Ctrl-C"));
        try {
            if (!ended.await(LAST_WORDS_SECONDS, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        err.println((onTerminal() ? "\n" : "") + "posix-gateway: interrupted at " + lastWords.get());
        err.flush();
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The process is ending, and the hook runs.
        }
    }

    /** Does standard output go to a terminal? */
    static boolean onTerminal() {
        try {
            String output = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
            return output.startsWith("/dev/pts/") || output.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }
}
