package io.posixgateway.alluxio.cli;

import io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.control.proto.PathInfoReply;
import io.posixgateway.alluxio.control.proto.PathInfoRequest;
import io.posixgateway.alluxio.posix.IdMapper;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows what is known of one path. */
@Command(
        name = "info",
        description =
                "Shows what the gateway knows about a path: inode, blocks, their locations, and the read path of an"
                        + " open.",
        footer = {
            "",
            "Read paths: local (block files of a worker on this host, read directly), remote (streams from workers),",
            "ufs (a worker first fetches it from the under file system), spool (changed here, not uploaded yet).",
            "",
            "Examples:",
            "  posix-gateway info /mnt/data/train/img-0001.png",
            "  posix-gateway info --volume pvc-1 /train"
        })
final class InfoCommand implements Callable<Integer> {
    private static final int MAX_BLOCKS = 20;

    @Parameters(paramLabel = "PATH", description = "A file or folder in a mount of posix-gateway.")
    private String path = "";

    @Mixin
    private Target target = new Target();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        try (Target.Found found = target.find(path)) {
            try {
                show(
                        out,
                        found.client()
                                .calls()
                                .pathInfo(PathInfoRequest.newBuilder()
                                        .setVolume(found.volume().getVolume())
                                        .setPath(found.path())
                                        .build()));
            } catch (StatusRuntimeException e) {
                throw found.client().explained(e);
            }
        }
        out.flush();
        return 0;
    }

    private static void showAside(PrintWriter out, PathInfoReply info) {
        for (PathInfoReply.SetAside one : info.getSetAsideList()) {
            out.println("set aside   " + one.getBytes() + " bytes of "
                    + (one.getPath().isEmpty() ? "a file" : one.getPath()) + " in " + one.getContent() + ", as "
                    + one.getWhy());
        }
    }

    private static void showListings(PrintWriter out, PathInfoReply info) {
        for (PathInfoReply.Listing one : info.getListingsList()) {
            out.println("listing     " + one.getPath() + " for " + one.getSeconds() + " s, " + one.getCalls()
                    + " waiting: Alluxio reads its names from the under file system");
        }
    }

    private static void showRenames(PrintWriter out, PathInfoReply info) {
        for (PathInfoReply.Listing one : info.getCopiesList()) {
            out.println("renaming    a file to " + one.getPath() + " for " + one.getSeconds()
                    + " s: the object store copies it");
        }
        info.getUnfinishedRenamesList().forEach(one -> out.println("unfinished  " + one));
    }

    private static void show(PrintWriter out, PathInfoReply info) {
        out.println("path        " + info.getAlluxioPath() + " in Alluxio");
        out.println("type        " + info.getType());
        out.println("inode       " + info.getNode() + " (Alluxio file id " + info.getFileId() + ")");
        out.println("length      " + info.getLengthBytes());
        out.println(String.format(
                Locale.ROOT, "mode        %04o, uid %d, gid %d", info.getMode(), info.getUid(), info.getGid()));
        if (info.getUid() == IdMapper.NOBODY && (info.getMode() & 077) == 0) {
            out.println("access      root only: this host does not know the owner that Alluxio reports; see the options"
                    + " uid and gid");
        }
        out.println("changed     " + Instant.ofEpochMilli(info.getChangedMs()));
        out.println("under fs    " + (info.getUfsPath().isEmpty() ? "-" : info.getUfsPath()));
        out.println("in Alluxio  " + info.getInAlluxioPercent() + "%");
        out.println("metadata    " + (info.getCached() ? "was cached" : "was fetched just now"));
        out.println("open        " + info.getOpenHandles() + " handles here");
        out.println("read path   " + info.getReadPath() + ": " + info.getReason());
        if (info.getBlocksCount() > 0) {
            out.println("blocks      " + info.getBlocksCount() + " of up to "
                    + NumberFormats.size((double) info.getBlockBytes()));
        }
        for (PathInfoReply.Block block : info.getBlocksList().subList(0, Math.min(MAX_BLOCKS, info.getBlocksCount()))) {
            out.println("  " + block.getId() + "  " + block.getLengthBytes() + "  "
                    + (block.getWorkersCount() == 0 ? "in no worker" : String.join("; ", block.getWorkersList())));
        }
        if (info.getBlocksCount() > MAX_BLOCKS) {
            out.println("  ... and " + (info.getBlocksCount() - MAX_BLOCKS) + " more");
        }
        info.getBudgetsList().forEach(one -> out.println("budget      " + one));
        showAside(out, info);
        showListings(out, info);
        showRenames(out, info);
    }
}
