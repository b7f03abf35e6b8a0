package io.posixgateway.alluxio.cli;

import io.posixgateway.fuse.session.MountTable.Mount;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Unmounts what {@code mount}, {@code demo} or {@code testfs} mounted; the process behind it then ends by itself. */
@Command(
        name = "umount",
        description = "Unmounts a mount of posix-gateway; the process that serves it then ends.",
        footer = {
            "",
            "Examples:",
            "  posix-gateway umount /mnt/data",
            "  posix-gateway umount --lazy /mnt/data              even if it is in use or hangs"
        })
final class UmountCommand implements Callable<Integer> {
    @Parameters(paramLabel = "MOUNTPOINT", description = "The mount point.")
    private Path mountPoint = Path.of("");

    @Option(
            names = {"-l", "--lazy"},
            description = "Detach the mount point now, even if it is in use or its server has ended.")
    private boolean lazy;

    @Override
    public Integer call() {
        Path target = MountTable.withoutLinks(mountPoint);
        Mount mount = MountTable.at(target)
                .orElseThrow(() -> new CommandException("nothing is mounted at " + target
                        + "; give one of the mount points that 'mount -t fuse.posix-gateway' lists"));
        if (!isFuse(mount)) {
            throw new CommandException(
                    target + " is a mount of type " + mount.type() + ", not of posix-gateway; unmount it with umount");
        }
        unmount(target);
        // Sockets go by the path: where one of ours lay below, they may be its.
        boolean another = MountTable.at(target).filter(UmountCommand::isFuse).isPresent();
        if (!another && MountSocket.removedIfDead(target)) {
            PersistentMount.endOwnKeeper(target);
        }
        return 0;
    }

    private static boolean isFuse(Mount mount) {
        return mount.type().startsWith("fuse");
    }

    private void unmount(Path target) {
        boolean root = isRoot();
        List<String> command = new ArrayList<>();
        command.addAll(root ? List.of("umount", "-c", "-i") : List.of("fusermount", "-u"));
        if (lazy) {
            command.add(root ? "-l" : "-z");
        }
        command.addAll(List.of("--", target.toString()));
        String said = run(command);
        if (said != null) {
            String advice = lazy ? "" : "; end the programs that use it (fuser -vm " + target + "), or give --lazy";
            throw new CommandException(target + " cannot be unmounted: " + said + advice);
        }
    }

    static boolean isRoot() {
        try {
            return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        } catch (IOException e) {
            return false;
        }
    }

    /** What it printed, or null when it succeeded. */
    private static @Nullable String run(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            try (InputStream output = process.getInputStream()) {
                String said = new String(output.readAllBytes(), StandardCharsets.UTF_8).trim();
                return process.waitFor() == 0 ? null : said;
            }
        } catch (IOException e) {
            return command.get(0) + " cannot be run: " + e.getMessage() + "; install it (Debian: "
                    + (command.get(0).equals("umount") ? "mount" : "fuse") + ")";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }
}
