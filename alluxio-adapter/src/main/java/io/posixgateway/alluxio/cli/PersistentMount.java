package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.control.proto.Cluster;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.gateway.BypassEndpoint;
import io.posixgateway.alluxio.gateway.FileSystemFactory;
import io.posixgateway.alluxio.gateway.KeeperClient;
import io.posixgateway.alluxio.gateway.KeeperException;
import io.posixgateway.alluxio.gateway.KeeperWatch;
import io.posixgateway.alluxio.gateway.MountOptions;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.posixgateway.alluxio.gateway.ServiceException;
import io.posixgateway.alluxio.gateway.Volumes;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.time.Clock;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One mount that a keeper holds. This process serves it until somebody unmounts it; when this one ends before, programs on
 * the mount wait for the next that is started with the same command.
 */
final class PersistentMount {
    private static final Logger LOG = LoggerFactory.getLogger(PersistentMount.class);

    /** Instead of a socket: a keeper for this mount alone, which ends with it. */
    static final String OWN = "own";

    /** Which program is the keeper, where it is neither beside posix-gateway nor in the PATH. */
    private static final String PROGRAM_VARIABLE = "POSIX_GATEWAY_KEEPER";

    private static final String PROGRAM = "posix-gateway-keeper";
    private static final int MAX_ID_BYTES = 255;
    private static final int SHOWN_OF_LONG = 200;
    private static final int TIMEOUT_MILLIS = 10_000;
    private static final long BEGIN_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Path target;
    private final Path log;
    private final String id;
    private final boolean own;
    private final Path socket;
    private final KeeperClient keeper;
    private final BypassEndpoint bypass;
    /** This process ends, and the mount does not. */
    private volatile boolean leaving;

    /** @param where socket of the keeper, or {@link #OWN} */
    PersistentMount(String where, Path target, Path log, BypassEndpoint bypass) {
        this.bypass = bypass;
        this.target = target;
        this.log = log;
        this.id = id(target);
        this.own = where.equals(OWN);
        this.socket = own ? ownSocket(target) : Path.of(where);
        this.keeper = new KeeperClient(socket, TIMEOUT_MILLIS, Clock.system());
    }

    private static Path ownSocket(Path target) {
        return Path.of("/run/posix-gateway/mount-" + MountSocket.digest(target.toString()) + ".sock");
    }

    /**
     * Ends the keeper of a mount that was unmounted after its gateway was killed: nobody else does. None there is success. Waits for its
     * end, so that who mounts there next does not find one that is about to end.
     */
    static void endOwnKeeper(Path target) {
        Path socket = ownSocket(target);
        if (!Files.exists(socket)) {
            return;
        }
        KeeperClient keeper = new KeeperClient(socket, TIMEOUT_MILLIS, Clock.system());
        try {
            keeper.unmount(id(target));
            if (!keeper.list().isEmpty()) {
                return; // somebody has put another mount with it
            }
            Optional<ProcessHandle> process = ProcessHandle.of(keeper.pid());
            process.ifPresent(ProcessHandle::destroy);
            if (process.isPresent()) {
                process.get().onExit().get(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
            }
        } catch (KeeperException | ExecutionException | TimeoutException e) {
            LOG.debug("The keeper at {} is not stopped: {}", socket, e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * What keepers call this mount: its path with colons for slashes, which two paths of such characters never have in common; any other
     * path, and a long one, ends in a digest of all of it, behind two colons, which no path of the first kind has.
     */
    static String id(Path target) {
        String path = target.toString();
        String plain = path.replaceAll("[^A-Za-z0-9._-]", ":");
        if (path.matches("[A-Za-z0-9._/-]{1," + MAX_ID_BYTES + "}")) {
            return plain;
        }
        return plain.substring(0, Math.min(plain.length(), SHOWN_OF_LONG)) + "::" + MountSocket.digest(path);
    }

    /**
     * Serves until the mount has ended.
     *
     * @param name first column of /proc/mounts
     */
    void serve(
            String name,
            FileSystemFactory source,
            AlluxioOptions place,
            OptionValues options,
            Map<String, String> given)
            throws ServiceException, KeeperException {
        if (own && !answers()) {
            startKeeper();
        }
        keeper.mount(new KeeperClient.Mount(
                id,
                target.toString(),
                name,
                options.on("ro"),
                options.on("allow_other"),
                options.on("default_permissions"),
                MountOptions.keeperWords(options)));
        Volumes volumes = new Volumes(source, keeper, log.toAbsolutePath().resolveSibling("access"), bypass);
        ServedVolume volume = volumes.attach(request(place, given));
        EndOnSignal signals = EndOnSignal.with("leave", () -> {
            leaving = true;
            volumes.drain();
        });
        if (Background.isChild()) {
            Background.reportReady(volume.session().line());
        } else {
            System.out.println("held by the keeper at " + socket + "; Ctrl-C leaves the mount to the next process:"
                    + " " + target);
            System.out.println(volume.session().line());
        }
        if (steered(volume, volumes) && !leaving) {
            signals.close();
            end(volumes);
        }
    }

    /** The mount has ended. Who unmounted it may have ended its own keeper, too: {@link #endOwnKeeper}. */
    private void end(Volumes volumes) throws ServiceException, KeeperException {
        try {
            volumes.detach(id);
            keeper.unmount(id);
            if (own) {
                ProcessHandle.of(keeper.pid()).ifPresent(ProcessHandle::destroy);
            }
        } catch (ServiceException | KeeperException e) {
            if (!own || answers()) {
                throw e;
            }
            LOG.debug("The keeper at {} has ended already: {}", socket, e.getMessage());
        }
    }

    /** Takes orders until the mount has ended; false: interrupted. */
    private boolean steered(ServedVolume volume, Volumes volumes) {
        MountedSession.Steered steered = MountSocket.steer(volume, target, bypass);
        KeeperWatch watch = KeeperWatch.start(keeper, volumes, Clock.system());
        try {
            return ended(volume);
        } finally {
            watch.close();
            steered.close();
        }
    }

    private AttachRequest request(AlluxioOptions place, Map<String, String> given) {
        return AttachRequest.newBuilder()
                .setVolume(id)
                .setCluster(Cluster.newBuilder()
                        .setMasters(place.masters())
                        .setUser(place.user())
                        .putAllProperties(place.properties()))
                .setAlluxioPath(place.path())
                .setReadOnly("on".equals(given.get("ro")))
                .putAllOptions(given)
                .build();
    }

    /** Waits; false: interrupted. */
    private static boolean ended(ServedVolume volume) {
        try {
            while (!volume.session().await(Duration.ofHours(1))) {
                // A mount may last for years.
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private boolean answers() {
        try {
            return keeper.pid() > 0;
        } catch (KeeperException e) {
            return false;
        }
    }

    private void startKeeper() {
        if (!UmountCommand.isRoot()) {
            throw new CommandException("a keeper needs root to mount; run this as root, or give --keeper SOCKET");
        }
        try {
            new ProcessBuilder("setsid", program().toString(), "--socket", socket.toString())
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.appendTo(
                            log.resolveSibling(log.getFileName() + ".keeper").toFile()))
                    .start();
        } catch (IOException e) {
            throw new CommandException(
                    "the keeper cannot be started: " + e.getMessage() + "; set the path of the program in"
                            + " " + PROGRAM_VARIABLE
                            + ", or give --keeper the socket of a running keeper",
                    e);
        }
        long end = Clock.system().nanos() + BEGIN_NANOS;
        while (!answers()) {
            if (Clock.system().nanos() - end >= 0) {
                throw new CommandException("the keeper at " + socket
                        + " does not answer; see the last lines of its log, " + log + ".keeper");
            }
            Clock.system().pause(STEP_NANOS);
        }
    }

    private static Path program() {
        String given = System.getenv(PROGRAM_VARIABLE);
        if (given != null) {
            return Path.of(given);
        }
        for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            Path candidate = Path.of(folder, PROGRAM);
            if (Files.isExecutable(candidate)) {
                return candidate;
            }
        }
        Path beside = beside();
        if (beside != null && Files.isExecutable(beside)) {
            return beside;
        }
        throw new CommandException(PROGRAM + " is not in the PATH; put it there ('make build' creates csi/bin/"
                + PROGRAM + "'), or set its path in " + PROGRAM_VARIABLE);
    }

    /** In the bin folder of this program's own jars. */
    private static @Nullable Path beside() {
        try {
            Path jar = Path.of(PersistentMount.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            Path lib = jar.getParent();
            return lib == null ? null : lib.resolveSibling("bin").resolve(PROGRAM);
        } catch (java.net.URISyntaxException e) {
            return null;
        }
    }
}
