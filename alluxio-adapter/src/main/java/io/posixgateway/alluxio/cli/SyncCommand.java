package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.control.SyncProgress;
import io.posixgateway.alluxio.control.SyncRequest;
import java.io.PrintWriter;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Brings Alluxio up to date with the under file system. */
@Command(
        name = "sync",
        description =
                "Brings Alluxio up to date with the bucket, or other under file system, of a path and all below it, once.",
        footer = {
            "",
            "For changes that other programs made in the bucket: what is new there is found, what was replaced is read anew,",
            "what was removed is gone. Then the mount forgets what it cached of the path. Other mounts see it when their",
            "metadata_ttl is over. To have Alluxio look by itself, set alluxio.user.file.metadata.sync.interval.",
            "It costs a listing of the bucket for each directory. A file that was replaced in the bucket has the mode and owner",
            "that Alluxio gives to objects, unless this mount knew others of it.",
            "Ctrl-C ends it; what was compared stays so, and the same command begins anew.",
            "Exit code: 0 when all is compared, 1 when Alluxio refused a directory, 130 after Ctrl-C.",
            "",
            "Examples:",
            "  posix-gateway sync /mnt/data/incoming",
            "  posix-gateway sync --volume pvc-1 /"
        })
final class SyncCommand implements Callable<Integer> {
    /** Where output is no terminal, a line is printed so often. */
    private static final int SECONDS_A_LINE = 10;

    @Parameters(paramLabel = "PATH", description = "A file or folder in a mount of posix-gateway.")
    private String path = "";

    @Mixin
    private Target target = new Target();

    @Spec
    private @Nullable CommandSpec spec;

    private final boolean terminal = StreamedCall.onTerminal();
    private volatile SyncProgress last = SyncProgress.getDefaultInstance();

    @Override
    public Integer call() {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        PrintWriter err = Objects.requireNonNull(spec).commandLine().getErr();
        try (Target.Found found = target.find(path)) {
            return new StreamedCall(err, () -> line(last) + "; what was compared stays so")
                    .run(found, () -> follow(found, out));
        }
    }

    private int follow(Target.Found found, PrintWriter out) {
        SyncRequest request = SyncRequest.newBuilder()
                .setVolume(found.volume().getVolume())
                .setPath(found.path())
                .build();
        int reports = 0;
        Iterator<SyncProgress> progress = found.client().streams().sync(request);
        while (progress.hasNext()) {
            last = progress.next();
            if (terminal) {
                out.print("\r" + line(last) + "\u001b[K");
            } else if (!last.getDone() && ++reports % SECONDS_A_LINE == 0) {
                out.println(line(last));
            }
            out.flush();
        }
        out.println((terminal ? "\r" : "") + line(last) + (terminal ? "\u001b[K" : ""));
        out.flush();
        return last.getFailed() > 0 ? 1 : 0;
    }

    private static String line(SyncProgress progress) {
        String text = progress.getDirectories() + " folders, " + progress.getEntries() + " entries compared";
        if (!progress.getDone() && !progress.getPath().isEmpty()) {
            text += ", " + progress.getPath() + " for " + progress.getPathSeconds() + " s";
        }
        return progress.getFailed() == 0
                ? text
                : text + ", " + progress.getFailed() + " failed, the first of them " + progress.getFailure();
    }
}
