package io.posixgateway.alluxio.cli;

import io.grpc.Context;
import io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.control.WarmupProgress;
import io.posixgateway.alluxio.control.WarmupRequest;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Warms a path up before a job needs it. */
@Command(
        name = "warmup",
        description = "Brings metadata of a path into the gateway's cache and its data into Alluxio's workers.",
        footer = {
            "",
            "The data is fetched by Alluxio's own load or, where the master does not take that, by reading it once.",
            "Ctrl-C ends it, and Alluxio's load with it; what was loaded stays, and the same command goes on from there.",
            "Exit code: 0 when everything is warm, 1 when something failed or (--check) is not warm, 130 after Ctrl-C.",
            "",
            "Examples:",
            "  posix-gateway warmup /mnt/data/train",
            "  posix-gateway warmup --check /mnt/data/train",
            "  posix-gateway warmup --metadata-only /mnt/data"
        })
final class WarmupCommand implements Callable<Integer> {
    private static final int BAR = 30;
    private static final int INTERRUPTED = 130;
    private static final long LAST_WORDS_SECONDS = 2;
    /** Where output is no terminal, a line is printed whenever so much more is done. */
    private static final int PERCENT_A_LINE = 10;

    @Parameters(paramLabel = "PATH", description = "A file or folder in a mount of posix-gateway.")
    private String path = "";

    @Option(names = "--check", description = "Change nothing; tell how much is warm.")
    private boolean check;

    @Option(names = "--metadata-only", description = "Leave the data where it is.")
    private boolean metadataOnly;

    @Mixin
    private Target target = new Target();

    @Spec
    private @Nullable CommandSpec spec;

    private final boolean terminal = onTerminal();
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile WarmupProgress last = WarmupProgress.getDefaultInstance();

    @Override
    public Integer call() {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        try (Target.Found found = target.find(path);
                Context.CancellableContext context = Context.current().withCancellation()) {
            Thread ender = new Thread(() -> interrupt(context), "cancel");
            Runtime.getRuntime().addShutdownHook(ender);
            try {
                return context.call(() -> follow(found, out));
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
        PrintWriter err = Objects.requireNonNull(spec).commandLine().getErr();
        String goesOn = check ? "" : "; what was loaded stays, and the same command goes on from there";
        err.println((terminal ? "\n" : "") + "posix-gateway: interrupted at " + line(last) + goesOn);
        err.flush();
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The process is ending, and the hook runs.
        }
    }

    private int follow(Target.Found found, PrintWriter out) {
        WarmupRequest request = WarmupRequest.newBuilder()
                .setVolume(found.volume().getVolume())
                .setPath(found.path())
                .setData(!metadataOnly)
                .setCheck(check)
                .build();
        int nextLine = 0;
        Iterator<WarmupProgress> progress = found.client().streams().warmup(request);
        while (progress.hasNext()) {
            last = progress.next();
            if (terminal) {
                out.print("\r" + line(last) + "\u001b[K");
            } else if (!check && counts(last) && percent(last) >= nextLine && !last.getDone()) {
                out.println(line(last));
                nextLine = percent(last) / PERCENT_A_LINE * PERCENT_A_LINE + PERCENT_A_LINE;
            }
            out.flush();
        }
        out.println((terminal ? "\r" : "") + line(last) + (terminal ? "\u001b[K" : ""));
        out.flush();
        boolean cold = check && last.getBytes() < last.getTotalBytes();
        return last.getFailed() > 0 || cold ? 1 : 0;
    }

    private static boolean onTerminal() {
        try {
            String output = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
            return output.startsWith("/dev/pts/") || output.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }

    /** Does it tell how much data is there? */
    private boolean counts(WarmupProgress progress) {
        return check || progress.getStep().equals("data");
    }

    private static int percent(WarmupProgress progress) {
        long total = progress.getTotalBytes();
        return total == 0 ? 100 : (int) (100.0 * progress.getBytes() / total);
    }

    private String line(WarmupProgress progress) {
        long total = progress.getTotalBytes();
        String text = progress.getEntries() + " entries, " + Figures.size((double) total) + " of data";
        if (counts(progress)) {
            int percent = percent(progress);
            int filled = percent * BAR / 100;
            String bar = "[" + "#".repeat(filled) + "-".repeat(BAR - filled) + "] ";
            text = (terminal ? bar : "") + percent + "% of " + Figures.size((double) total) + " in Alluxio, "
                    + progress.getEntries() + " entries";
        }
        return progress.getFailed() == 0 ? text : text + ", " + progress.getFailed() + " failed";
    }
}
