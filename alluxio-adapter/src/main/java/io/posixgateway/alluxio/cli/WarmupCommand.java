package io.posixgateway.alluxio.cli;

import io.grpc.Status;
import io.posixgateway.alluxio.control.proto.WarmupProgress;
import io.posixgateway.alluxio.control.proto.WarmupRequest;
import java.io.PrintWriter;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.Callable;
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
        description =
                "Loads metadata of a path into the gateway's cache and its data into Alluxio's workers, or this node.",
        footer = {
            "",
            "Data is loaded by Alluxio's own load job or, where the master has none, by reading it once.",
            "With --to node the data is in the node's data cache (cache_dir), or in block files of a worker here. Other",
            "data makes room for it, up to cache_dir_size.",
            "Ctrl-C stops it and Alluxio's load job; what was loaded stays, and the same command continues from there.",
            "Exit code: 0 if everything is warm; 1 if something failed, has no room or (--check) is not warm;",
            "130 after Ctrl-C.",
            "",
            "Examples:",
            "  posix-gateway warmup /mnt/data/train",
            "  posix-gateway warmup --to node /mnt/data/train",
            "  posix-gateway warmup --check /mnt/data/train",
            "  posix-gateway warmup --metadata-only /mnt/data"
        })
final class WarmupCommand implements Callable<Integer> {
    private static final int BAR = 30;
    /** Where output is no terminal, a line is printed whenever so much more is done. */
    private static final int PERCENT_A_LINE = 10;

    @Parameters(paramLabel = "PATH", description = "A file or folder in a mount of posix-gateway.")
    private String path = "";

    @Option(names = "--check", description = "Load nothing; only report how much is warm.")
    private boolean check;

    @Option(names = "--metadata-only", description = "Load metadata only, no data.")
    private boolean metadataOnly;

    @Option(
            names = "--to",
            paramLabel = "workers|node",
            description = "Where data is loaded: into Alluxio's workers, which is the default, or onto this node.")
    private Place to = Place.WORKERS;

    private enum Place {
        WORKERS("in Alluxio"),
        NODE("on this node");

        private final String text;

        Place(String text) {
            this.text = text;
        }
    }

    @Mixin
    private Target target = new Target();

    @Spec
    private @Nullable CommandSpec spec;

    private final boolean terminal = StreamedCall.onTerminal();
    private volatile WarmupProgress last = WarmupProgress.getDefaultInstance();

    @Override
    public Integer call() {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        PrintWriter err = Objects.requireNonNull(spec).commandLine().getErr();
        String goesOn = check ? "" : "; what was loaded stays, and the same command continues from there";
        try (Target.Found found = target.find(path)) {
            int code = new StreamedCall(err, () -> line(last) + goesOn).run(found, () -> follow(found, out));
            if (!last.getFailure().isEmpty()) {
                err.println("posix-gateway: the first failure: " + last.getFailure());
            }
            return code;
        }
    }

    private int follow(Target.Found found, PrintWriter out) {
        WarmupRequest request = WarmupRequest.newBuilder()
                .setVolume(found.volume().getVolume())
                .setPath(found.path())
                .setData(!metadataOnly)
                .setCheck(check)
                .setNode(to == Place.NODE)
                .build();
        int nextLine = 0;
        Iterator<WarmupProgress> progress = found.client().streams().warmup(request);
        while (progress.hasNext()) {
            last = progress.next();
            if (to == Place.NODE && !last.getNode()) {
                throw Status.UNIMPLEMENTED
                        .asRuntimeException(); // and warms the workers, as gateways did before there was a choice
            }
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
        return exitCode();
    }

    private int exitCode() {
        boolean cold = check && last.getBytes() < last.getTotalBytes();
        return last.getFailed() > 0 || last.getNoRoomBytes() > 0 || cold ? 1 : 0;
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
        String text = progress.getEntries() + " entries, " + NumberFormats.size((double) total) + " of data";
        if (counts(progress)) {
            int percent = percent(progress);
            int filled = percent * BAR / 100;
            String bar = "[" + "#".repeat(filled) + "-".repeat(BAR - filled) + "] ";
            text = (terminal ? bar : "") + percent + "% of " + NumberFormats.size((double) total) + " " + to.text + ", "
                    + progress.getEntries() + " entries";
        }
        if (progress.getNoRoomBytes() > 0) {
            text += ", no room for " + NumberFormats.size((double) progress.getNoRoomBytes());
        }
        return progress.getFailed() == 0 ? text : text + ", " + progress.getFailed() + " failed";
    }
}
