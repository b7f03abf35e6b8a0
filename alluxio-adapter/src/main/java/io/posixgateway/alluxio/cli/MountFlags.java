package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.gateway.BypassEndpoint;
import io.posixgateway.alluxio.options.OptionTable;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** What every mounting command takes. */
final class MountFlags {
    private static final Logger LOG = LoggerFactory.getLogger(MountFlags.class);
    private static final String SLOPPY = "sloppy";

    @Option(
            names = "-o",
            paramLabel = "NAME[=VALUE],...",
            description = "Mount options; docs/configuration.md lists them.")
    private List<String> options = new ArrayList<>();

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            description = "Short for -o transport=NAME: auto, uring, devfuse or libfuse.")
    private @Nullable String transport;

    @Option(
            names = "--buffer-size",
            paramLabel = "SIZE",
            description = "Short for -o buffer_size=SIZE; a bare number is MiB.")
    private @Nullable String bufferSize;

    @Option(
            names = "--max-readahead",
            paramLabel = "SIZE",
            description = "Short for -o read_ahead=SIZE; a bare number is MiB.")
    private @Nullable String maxReadAhead;

    @Option(names = "--prefetch", paramLabel = "N", description = "Short for -o prefetch=on; 0: off.")
    private @Nullable Integer prefetch;

    @Option(
            names = {"-f", "--foreground"},
            description = "Run in the foreground, log to the terminal, unmount on Ctrl-C.")
    private boolean foreground;

    @Option(names = "--check-options", hidden = true, description = "Only check the options: mount -f.")
    private boolean checkOnly;

    @Option(names = "--log-file", paramLabel = "FILE", description = "Log file of the background process.")
    private @Nullable Path logFile;

    @Option(
            names = "--bypass-socket",
            paramLabel = "PATH",
            description =
                    "With -o bypass: the socket through which programs with libposixgw-bypass.so get block files.")
    private @Nullable Path bypassSocket;

    /** Is that all? */
    boolean checkOnly() {
        return checkOnly;
    }

    /** Where programs find block files. */
    BypassEndpoint bypass() {
        return new BypassEndpoint(bypassSocket == null ? MountSocket.bypass() : bypassSocket, Clock.system());
    }

    /** The options, checked against the table; warns of earlier names. */
    OptionValues read(OptionTable table) {
        Map<String, String> given = given(table);
        if (!Background.isChild()) { // its parent has said so already
            table.renamedIn(given).forEach(LOG::warn);
        }
        return table.read(given);
    }

    /** The options as they were given; after {@code sloppy} (mount -s) without those that are not known. */
    private Map<String, String> given(OptionTable table) {
        Map<String, String> given = OptionTable.split(options);
        if (given.remove(SLOPPY) != null) {
            given = table.known(given);
        }
        if (transport != null) {
            given.put("transport", transport);
        }
        if (bufferSize != null) {
            given.put("buffer_size", mebibytes(bufferSize));
        }
        if (maxReadAhead != null) {
            given.put("read_ahead", mebibytes(maxReadAhead));
        }
        if (prefetch != null) {
            given.put("prefetch", prefetch == 0 ? "off" : "on");
        }
        return given;
    }

    private static String mebibytes(String size) {
        return size.matches("\\d+") ? size + "M" : size;
    }

    /** Serve in this process? */
    boolean serveHere() {
        return foreground || Background.isChild();
    }

    /** The log of a process that serves this mount point in the background. */
    Path logFile(Path mountPoint) {
        if (logFile != null) {
            return logFile;
        }
        String name =
                mountPoint.toAbsolutePath().normalize().toString().substring(1).replace('/', '-');
        return logFolder().resolve((name.isEmpty() ? "root" : name) + ".log");
    }

    /** Where the access log of this mount goes when it is switched on. */
    Path accessLogFile(Path mountPoint) {
        Path log = logFile(mountPoint).toAbsolutePath();
        String name = log.getFileName().toString().replaceAll("\\.log$", "");
        return log.resolveSibling(name + ".access.log");
    }

    private static Path logFolder() {
        if (UmountCommand.isRoot()) {
            return Path.of("/var/log/posix-gateway");
        }
        String state = System.getenv("XDG_STATE_HOME");
        Path base = state == null ? Path.of(System.getProperty("user.home"), ".local", "state") : Path.of(state);
        return base.resolve("posix-gateway");
    }
}
