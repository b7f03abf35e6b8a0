package io.posixgateway.alluxio.mounted;

import io.posixgateway.alluxio.bypass.BlockSet;
import io.posixgateway.alluxio.bypass.BypassCounts;
import io.posixgateway.alluxio.bypass.BypassServer;
import io.posixgateway.alluxio.bypass.BypassVolume;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.jni.NativeLoader;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A mount whose files programs may read without FUSE, and the library for them. */
final class BypassedMount implements AutoCloseable {
    private static final int SECONDS = 240;

    private final MountedFileSystem mounted;
    private final BypassCounts counts = new BypassCounts();
    private final Path library = NativeLoader.extract("libposixgw-bypass.so");
    private final Path socket;
    private @Nullable BypassServer server;

    /** @param blockSize of files that are written, such as 1MB */
    BypassedMount(Path socket, String blockSize, Map<String, String> options) throws Exception {
        Map<String, String> all =
                new HashMap<>(Map.of("bypass", "on", "passthrough", "off", "consistency", "immutable"));
        all.putAll(options);
        AlluxioOptions place = SharedAlluxio.at(SharedAlluxio.folder());
        AlluxioFileSystem fs = AlluxioMount.open(
                new AlluxioOptions(
                        place.masters(),
                        place.path(),
                        place.user(),
                        Map.of("alluxio.user.block.size.bytes.default", blockSize)),
                SharedAlluxio.options(all));
        this.mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO);
        this.socket = socket;
        BypassVolume volume =
                new Served(fs, mounted.session().kernelConnection().number(), counts);
        this.server = BypassServer.start(socket, () -> List.of(volume), Clock.system());
    }

    private record Served(AlluxioFileSystem fs, long device, BypassCounts counts) implements BypassVolume {
        @Override
        public boolean isConnected() {
            return true;
        }

        @Override
        public long leastBytes() {
            return fs.bypassBytes();
        }

        @Override
        public BlockSet blocks(long node) {
            return fs.blockSet(node);
        }
    }

    Path root() {
        return mounted.root();
    }

    Path socket() {
        return socket;
    }

    BypassCounts counts() {
        return counts;
    }

    /** Waits for so many files given; the last one is counted after its program has it. */
    void awaitOpens(long least) throws Exception {
        Waiting.until(least + " files are given", Duration.ofMinutes(1), () -> counts.opens() >= least);
    }

    /** READs that the kernel has sent. */
    long reads() {
        return mounted.session().metrics().requests(Opcode.READ);
    }

    /** Until then a file that was written is not bypassed, and whoever closed it does not wait for that. */
    void awaitReleases() throws Exception {
        SessionMetrics metrics = mounted.session().metrics();
        Waiting.until(
                "every handle is released",
                Duration.ofMinutes(1),
                () -> metrics.requests(Opcode.RELEASE)
                        == metrics.requests(Opcode.CREATE) + metrics.requests(Opcode.OPEN));
    }

    /** The gateway's end goes; the mount stays. */
    void stopServing() {
        if (server != null) {
            server.close();
            server = null;
        }
    }

    /** A program of fuse-core's tests. */
    static String script(String name) {
        return Built.root().resolve("fuse-core/src/test").resolve(name).toString();
    }

    /** Words that a command with the library begins with. */
    List<String> withLibrary() {
        return List.of("env", "LD_PRELOAD=" + library, "POSIX_GATEWAY_BYPASS=" + socket);
    }

    /** What a program prints that has the library. */
    String bypassed(String... words) throws Exception {
        List<String> all = new ArrayList<>(withLibrary());
        all.addAll(List.of(words));
        return plain(all.toArray(String[]::new));
    }

    /** What it prints without. */
    static String plain(String... words) throws Exception {
        return Command.run(SECONDS, words);
    }

    @Override
    public void close() throws IOException {
        stopServing();
        mounted.close();
        Files.deleteIfExists(library);
    }
}
