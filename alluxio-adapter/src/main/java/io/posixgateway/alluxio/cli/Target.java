package io.posixgateway.alluxio.cli;

import io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.control.proto.ListRequest;
import io.posixgateway.alluxio.control.proto.Volume;
import io.posixgateway.fuse.session.MountTable.Mount;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Which volume a command is about, and who serves it: found by the mount that a path lies in, or named.
 *
 * <p>Reads the mount table and asks control sockets; never touches the mount, so it works for a hung one.
 */
final class Target {
    /** A mount that was made just now listens a moment later. */
    private static final long PATIENCE_NANOS = 5_000_000_000L;

    private static final long PAUSE_MILLIS = 200;
    /** The chart sets the variable, so that commands in the gateway's container find its socket. */
    private static final Path SERVICE =
            Path.of(System.getenv().getOrDefault("POSIX_GATEWAY_SOCKET", "/run/posix-gateway/control.sock"));

    @Option(
            names = "--socket",
            paramLabel = "PATH",
            description = "Control socket of the gateway; by default derived from the mount, or for posix-gateway serve"
                    + " POSIX_GATEWAY_SOCKET (/run/posix-gateway/control.sock).")
    private @Nullable Path socket;

    @Option(
            names = "--volume",
            paramLabel = "NAME",
            description = "Volume of posix-gateway serve; PATH is then a path in the volume, for example /dir.")
    private @Nullable String volume;

    /**
     * What was found.
     *
     * @param path below the volume's root
     */
    record Found(ControlClient client, Volume volume, String path) implements AutoCloseable {
        @Override
        public void close() {
            client.close();
        }
    }

    /** @param given a mount point or a path in a mount, or in the volume named by --volume */
    Found find(String given) {
        String path = PathArgument.of(given);
        if (volume != null) {
            ControlClient client = new ControlClient(service());
            Volume named = named(client, volume);
            return new Found(client, named, path.startsWith("/") ? path : "/" + path);
        }
        Path whole = MountTable.withoutLinks(Path.of(path));
        Mount mount = mountOf(whole);
        long end = Clock.system().nanos() + PATIENCE_NANOS;
        do {
            for (Path candidate : candidates(mount)) {
                ControlClient client = new ControlClient(candidate);
                Optional<Volume> served = servedBy(client, mount);
                if (served.isPresent()) {
                    return new Found(client, served.get(), mount.pathWithin(whole));
                }
                client.close();
            }
            pause();
        } while (Clock.system().nanos() - end < 0);
        throw new CommandException("no gateway answers for " + mount.target()
                + "; if it is served in a container, run this command there, or give --socket");
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Where the service listens. */
    Path service() {
        return socket == null ? SERVICE : socket;
    }

    private static Mount mountOf(Path path) {
        Mount mount = MountTable.holding(path)
                .orElseThrow(() -> new CommandException(
                        path + " is not in a mount; give an absolute path in a mount of posix-gateway"));
        if (!mount.type().equals("fuse.posix-gateway")) {
            throw new CommandException(path + " is in a mount of type " + mount.type() + " at " + mount.target()
                    + ", not of posix-gateway; create one with 'posix-gateway mount'");
        }
        return mount;
    }

    /** Sockets that may be the right one and are there. */
    private List<Path> candidates(Mount mount) {
        if (socket != null) {
            return List.of(socket);
        }
        Set<Path> all = new LinkedHashSet<>();
        for (Mount other : MountTable.mounts()) {
            if (other.device().equals(mount.device())) {
                all.add(MountSocket.of(Path.of(other.target())));
            }
        }
        all.add(SERVICE);
        List<Path> there = new ArrayList<>();
        for (Path candidate : all) {
            if (Files.exists(candidate)) {
                there.add(candidate);
            }
        }
        return there;
    }

    private static Optional<Volume> servedBy(ControlClient client, Mount mount) {
        try {
            return client.calls().list(ListRequest.getDefaultInstance()).getVolumesList().stream()
                    .filter(volume -> mount.device().equals("0:" + volume.getDeviceMinor()))
                    .findFirst();
        } catch (StatusRuntimeException e) {
            return Optional.empty();
        }
    }

    private static Volume named(ControlClient client, String name) {
        List<Volume> all;
        try {
            all = client.calls().list(ListRequest.getDefaultInstance()).getVolumesList();
        } catch (StatusRuntimeException e) {
            throw client.explained(e);
        }
        List<String> names = all.stream().map(Volume::getVolume).toList();
        return all.stream()
                .filter(volume -> volume.getVolume().equals(name))
                .findFirst()
                .orElseThrow(() -> new CommandException("no volume '" + name + "' is served here; "
                        + (names.isEmpty()
                                ? "there is none: start a pod that uses one on this node, or give --socket"
                                : "give one of: " + String.join(", ", names))));
    }
}
