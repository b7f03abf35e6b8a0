package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.control.proto.SyncProgress;
import io.posixgateway.alluxio.control.proto.SyncRequest;
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
                "Updates Alluxio once from the bucket, or other under file system, for a path and everything below it.",
        footer = {
            "",
            "For changes that other programs made in the bucket: new files appear, replaced files are read again,",
            "removed files disappear. Then the mount's caches of the path are invalidated. Other mounts see the"
                    + " changes when their",
            "metadata_ttl has expired. For updates without this command, set alluxio.user.file.metadata.sync.interval.",
            "It lists the bucket once per directory. A file that was replaced in the bucket gets the mode and owner",
            "that Alluxio gives to objects, unless this mount knew its earlier ones.",
            "Ctrl-C ends it; what is up to date stays so, and the same command starts from the beginning.",
            "Exit code: 0 if everything is up to date, 1 if a directory failed, 130 after Ctrl-C.",
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
            return new StreamedCall(err, () -> line(last) + "; what is up to date stays so")
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
