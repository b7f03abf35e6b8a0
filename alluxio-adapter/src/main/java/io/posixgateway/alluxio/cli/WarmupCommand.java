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
            "The data is fetched by Alluxio's own load, so it lands where Alluxio wants it. Ctrl-C ends it.",
            "Exit code: 0 when everything is warm, 1 when something failed or (--check) is not warm.",
            "",
            "Examples:",
            "  posix-gateway warmup /mnt/data/train",
            "  posix-gateway warmup --check /mnt/data/train",
            "  posix-gateway warmup --metadata-only /mnt/data"
        })
final class WarmupCommand implements Callable<Integer> {
    private static final int BAR = 30;

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

    @Override
    public Integer call() {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        try (Target.Found found = target.find(path);
                Context.CancellableContext context = Context.current().withCancellation()) {
            Thread ender = new Thread(() -> context.cancel(new CancellationException("Ctrl-C")), "cancel");
            Runtime.getRuntime().addShutdownHook(ender);
            try {
                return context.call(() -> follow(found, out));
            } catch (StatusRuntimeException e) {
                throw found.client().explained(e);
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new CommandException(String.valueOf(e.getMessage()), e);
            } finally {
                removeHook(ender);
            }
        }
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
        boolean terminal = onTerminal();
        WarmupProgress last = WarmupProgress.getDefaultInstance();
        Iterator<WarmupProgress> progress = found.client().streams().warmup(request);
        while (progress.hasNext()) {
            last = progress.next();
            if (terminal) {
                out.print("\r" + line(last) + "\u001b[K");
                out.flush();
            }
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

    private String line(WarmupProgress progress) {
        long total = progress.getTotalBytes();
        boolean counts = check || progress.getStep().equals("data");
        String text = progress.getEntries() + " entries, " + Figures.size((double) total) + " of data";
        if (counts) {
            double part = total == 0 ? 1 : (double) progress.getBytes() / total;
            int filled = (int) (part * BAR);
            text = "[" + "#".repeat(filled) + "-".repeat(BAR - filled) + "] " + (int) (part * 100) + "% of "
                    + Figures.size((double) total) + " in Alluxio, " + progress.getEntries() + " entries";
        }
        return progress.getFailed() == 0 ? text : text + ", " + progress.getFailed() + " failed";
    }
}
