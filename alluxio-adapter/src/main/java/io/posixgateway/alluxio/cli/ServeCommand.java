package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.service.AlluxioVolumes;
import io.posixgateway.alluxio.service.BlockFolderRules;
import io.posixgateway.alluxio.service.GatewayService;
import io.posixgateway.alluxio.service.RateCeilings;
import io.posixgateway.alluxio.service.Rehearsal;
import io.posixgateway.alluxio.service.ServiceException;
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
        description = "Serves many volumes in one process: sessions come from the keeper, orders over a Unix socket.",
        footer = {
            "",
            "SIGTERM ends the process and leaves its sessions with the keeper: the next one continues with them.",
            "A second one, started while the first serves, gets ready and waits: it continues within a moment of the",
            "first one's end, planned (an upgrade) or not. The two share --spool (without it, the folder of --socket).",
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
            description = "Unix socket of the keeper, empty for one that mounts nothing; default ${DEFAULT-VALUE}.")
    private Path keeper = Path.of("");

    @Option(
            names = "--http",
            paramLabel = "HOST:PORT",
            defaultValue = "0.0.0.0:9400",
            description = "Where /metrics, /healthz and /readyz are; default ${DEFAULT-VALUE}.")
    private String http = "";

    @Option(
            names = "--access-logs",
            paramLabel = "DIR",
            defaultValue = "/var/log/posix-gateway",
            description = "Folder of access logs, which are off until switched on; default ${DEFAULT-VALUE}.")
    private Path accessLogs = Path.of("");

    @Option(
            names = "--bypass-socket",
            paramLabel = "PATH",
            description =
                    "Where programs with libposixgw-bypass.so find block files of volumes with bypass; default: socket"
                            + " in the folder bypass beside --socket.")
    private @Nullable Path bypassSocket;

    @Option(names = "--spool", paramLabel = "DIR", description = "Folder of files being written.")
    private @Nullable Path spool;

    @Option(
            names = "--spool-free",
            paramLabel = "SIZE",
            description = "What stays free on the disk of --spool, for recoveries, whoever fills it: writes get ENOSPC"
                    + " before; default 1G, but a twentieth of the disk at most.")
    private String spoolFree = "";

    @Option(
            names = "--max-bytes-per-second",
            paramLabel = "SIZE",
            description =
                    "Most that each volume may read, write and copy in a second, as its option bytes_per_second says;"
                            + " default: no limit.")
    private String maxBytesPerSecond = "";

    @Option(
            names = "--max-requests-per-second",
            paramLabel = "N",
            description =
                    "Most requests of each volume in a second, as its option requests_per_second says; default: no"
                            + " limit.")
    private String maxRequestsPerSecond = "";

    @Option(
            names = "--block-folders",
            paramLabel = "[MASTERS=]DIR[:DIR...]",
            description = {
                "Folders at or beneath which block files of workers on this node may be read, for volumes that name no masters,"
                        + " or exactly MASTERS (*: whichever); repeatable. Other volumes read all through the workers.",
            })
    private List<String> blockFolders = List.of();

    @Option(
            names = "--site-properties",
            paramLabel = "FILE",
            description = "Client settings: an alluxio-site.properties.")
    private @Nullable Path siteProperties;

    @Option(
            names = "--standby",
            description =
                    "For a second one behind the same --http: leaves that to the first one until it serves itself.")
    private boolean standby;

    @Option(
            names = "--old-metric-names",
            description =
                    "Also offer renamed metrics by their earlier names, until dashboards and alerts have followed.")
    private boolean oldMetricNames;

    @Option(names = "--rehearse", hidden = true, description = "Load all classes first, for the class-data archive.")
    private boolean rehearse;

    @Override
    public Integer call() throws InterruptedException {
        if (rehearse) {
            Rehearsal.run();
        }
        GatewayService.Addresses addresses =
                new GatewayService.Addresses(socket, keeper, address(http), lead(), accessLogs, bypassSocket());
        GatewayService.Mode mode = new GatewayService.Mode(standby, oldMetricNames);
        try (GatewayService service = GatewayService.start(volumes(), addresses, Main.version(), mode)) {
            Runtime.getRuntime().addShutdownHook(new Thread(service::drain, "drain"));
            service.awaitEnd();
        } catch (IOException | ServiceException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
        return 0;
    }

    private AlluxioVolumes volumes() throws ServiceException {
        try {
            BlockFolderRules rules = BlockFolderRules.of(blockFolders);
            return new AlluxioVolumes(siteProperties, spool, spoolFree, rules, ceilings(), Clock.system());
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
