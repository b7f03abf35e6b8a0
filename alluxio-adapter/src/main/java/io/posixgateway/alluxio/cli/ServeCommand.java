package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.gateway.BlockFolderRules;
import io.posixgateway.alluxio.gateway.FileSystemFactory;
import io.posixgateway.alluxio.gateway.JvmWarmup;
import io.posixgateway.alluxio.gateway.RateCeilings;
import io.posixgateway.alluxio.gateway.ServiceException;
import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.serve.GatewayService;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs the service of one node. */
@Command(
        name = "serve",
        description = "Serves many volumes in one process: it gets sessions from the keeper and commands over a Unix"
                + " socket.",
        footer = {
            "",
            "SIGTERM ends the process and leaves its sessions with the keeper; the next process continues them.",
            "A second process, started while the first one serves, is a standby: it takes over a fraction of a second"
                    + " after",
            "the first one ends, planned (an upgrade) or not. Both share --spool (without it, the folder of --socket).",
            "",
            "Examples:",
            "  posix-gateway serve --http 127.0.0.1:9400",
            "  posix-gateway serve --http 127.0.0.1:9401 --spool /var/lib/posix-gateway/spool"
        })
final class ServeCommand implements Callable<Integer> {
    private static final String LEAD = ".lead";

    @Option(
            names = "--socket",
            paramLabel = "PATH",
            defaultValue = "/run/posix-gateway/control.sock",
            description = "Unix socket of the control API; default ${DEFAULT-VALUE}.")
    private Path socket = Path.of("");

    @Option(
            names = "--keeper",
            paramLabel = "PATH",
            defaultValue = "/run/posix-gateway/keeper.sock",
            description = "Unix socket of the keeper; empty: none, for a process that mounts nothing; default"
                    + " ${DEFAULT-VALUE}.")
    private Path keeper = Path.of("");

    @Option(
            names = "--http",
            paramLabel = "HOST:PORT",
            defaultValue = "0.0.0.0:9400",
            description = "HOST:PORT of /metrics, /healthz and /readyz; default ${DEFAULT-VALUE}.")
    private String http = "";

    @Option(
            names = "--access-logs",
            paramLabel = "DIR",
            defaultValue = "/var/log/posix-gateway",
            description = "Folder for access logs, which are off by default; default ${DEFAULT-VALUE}.")
    private Path accessLogs = Path.of("");

    @Option(
            names = "--bypass-socket",
            paramLabel = "PATH",
            description =
                    "Socket through which programs with libposixgw-bypass.so get block files of volumes with bypass;"
                            + " default: bypass/socket beside --socket.")
    private @Nullable Path bypassSocket;

    @Option(names = "--spool", paramLabel = "DIR", description = "Folder for changed files until they are uploaded.")
    private @Nullable Path spool;

    @Option(
            names = "--spool-free",
            paramLabel = "SIZE",
            description = "Space on the disk of --spool that writes leave free for recovery: they fail with ENOSPC"
                    + " before, whoever filled the disk; default 1G, at most a twentieth of the disk.")
    private String spoolFree = "";

    @Option(
            names = "--cache-dir",
            paramLabel = "DIR",
            description = "Folder of the data cache that all volumes share, as the option cache_dir; default: none.")
    private String cacheDir = "";

    @Option(
            names = "--cache-dir-size",
            paramLabel = "SIZE",
            description = "Maximum size of the data cache; default 16G.")
    private String cacheDirSize = "";

    @Option(
            names = "--max-bytes-per-second",
            paramLabel = "SIZE",
            description = "Maximum bytes per second that each volume may read, write and copy, as its option"
                    + " bytes_per_second; default: no limit.")
    private String maxBytesPerSecond = "";

    @Option(
            names = "--max-requests-per-second",
            paramLabel = "N",
            description =
                    "Maximum requests per second of each volume, as its option requests_per_second; default: no limit.")
    private String maxRequestsPerSecond = "";

    @Option(
            names = "--block-folders",
            paramLabel = "[MASTERS=]DIR[:DIR...]",
            description = {
                "Folders below which block files of workers on this node are read directly, for volumes that name no"
                        + " masters, or exactly MASTERS (*: any); repeatable. Other volumes read everything through"
                        + " the workers.",
            })
    private List<String> blockFolders = List.of();

    @Option(
            names = "--site-properties",
            paramLabel = "FILE",
            description = "File with client settings, in the format of alluxio-site.properties.")
    private @Nullable Path siteProperties;

    @Option(
            names = "--standby",
            description = "For a standby with the same --http: it listens there only once it serves.")
    private boolean standby;

    @Option(
            names = "--old-metric-names",
            description =
                    "Also export renamed metrics under their earlier names, until dashboards and alerts use the new"
                            + " ones.")
    private boolean oldMetricNames;

    @Option(
            names = "--rehearse",
            hidden = true,
            description = "Load all classes at the start, to create the class-data archive.")
    private boolean rehearse;

    @Override
    public Integer call() throws InterruptedException {
        if (rehearse) {
            JvmWarmup.run();
        }
        GatewayService.Addresses addresses =
                new GatewayService.Addresses(socket, keeper, address(http), lead(), accessLogs, bypassSocket());
        GatewayService.Mode mode = new GatewayService.Mode(standby, oldMetricNames);
        try (GatewayService service = GatewayService.start(cached(volumes()), addresses, Main.version(), mode)) {
            Runtime.getRuntime().addShutdownHook(new Thread(service::drain, "drain"));
            service.awaitEnd();
        } catch (IOException | ServiceException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
        return 0;
    }

    private FileSystemFactory cached(FileSystemFactory volumes) {
        try {
            return volumes.owning("cache_dir", cacheDir).owning("cache_dir_size", cacheDirSize);
        } catch (OptionException e) {
            throw new CommandException("--cache-dir: " + e.getMessage(), e);
        }
    }

    private FileSystemFactory volumes() throws ServiceException {
        try {
            BlockFolderRules rules = BlockFolderRules.of(blockFolders);
            return new FileSystemFactory(siteProperties, spool, spoolFree, rules, ceilings(), Clock.system());
        } catch (OptionException e) {
            throw new CommandException("--spool-free: " + e.getMessage(), e);
        } catch (IllegalArgumentException e) {
            throw new CommandException(
                    "--block-folders: " + e.getMessage()
                            + "; give DIR[:DIR...] or MASTERS=DIR[:DIR...], each DIR absolute",
                    e);
        }
    }

    private RateCeilings ceilings() {
        try {
            return RateCeilings.of(maxBytesPerSecond, maxRequestsPerSecond);
        } catch (OptionException e) {
            throw new CommandException("--max-bytes-per-second, --max-requests-per-second: " + e.getMessage(), e);
        }
    }

    private Path bypassSocket() {
        return bypassSocket != null
                ? bypassSocket
                : socket.resolveSibling("bypass").resolve("socket");
    }

    private Path lead() {
        Path folder = spool != null ? spool : socket.toAbsolutePath().getParent();
        return folder == null ? Path.of(LEAD) : folder.resolve(LEAD);
    }

    private static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        try {
            return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new CommandException("--http " + text + ": give HOST:PORT, such as 127.0.0.1:9400", e);
        }
    }
}
