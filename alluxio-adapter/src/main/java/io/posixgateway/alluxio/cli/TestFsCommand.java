package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.gateway.MountOptions;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.testing.NullFileSystem;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Mounts a file system that needs no Alluxio. */
@Command(
        name = "testfs",
        description = "Mounts a file system that needs no Alluxio, to test a kernel or to measure.",
        footer = {
            "",
            "Examples:",
            "  posix-gateway testfs memory /mnt/scratch -o transport=devfuse",
            "  posix-gateway testfs null /mnt/null --files 3000 --bytes 19000 --foreground"
        })
final class TestFsCommand implements Callable<Integer> {
    private enum Kind {
        MEMORY,
        NULL
    }

    @Parameters(
            index = "0",
            paramLabel = "memory|null",
            description = "memory: stores what is written, up to half of POSIX_GATEWAY_HEAP; null: stores nothing.")
    private Kind kind = Kind.MEMORY;

    @Parameters(index = "1", paramLabel = "MOUNTPOINT", description = "An existing folder.")
    private Path mountPoint = Path.of("");

    @Option(
            names = "--files",
            paramLabel = "N",
            defaultValue = "1000",
            description = "null: number of files, f0 to f<N-1>; default ${DEFAULT-VALUE}.")
    private int files;

    @Option(
            names = {"--bytes", "--file-size"},
            paramLabel = "N",
            defaultValue = "131072",
            description = "null: length of each file; default ${DEFAULT-VALUE}.")
    private long bytes;

    @Mixin
    private MountFlags flags = new MountFlags();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        OptionValues options = flags.read(MountOptions.SESSION);
        if (flags.checkOnly()) {
            return 0;
        }
        Supplier<FileSystem> make = kind == Kind.MEMORY
                ? () -> new MemoryFileSystem(Runtime.getRuntime().maxMemory() / 2)
                : () -> new NullFileSystem(files, bytes);
        String name = kind == Kind.MEMORY ? "memory" : "null";
        return MountedSession.run(
                new MountedSession.Served("testfs " + name, make, MountedSession.Steering.NONE),
                mountPoint,
                MountOptions.mounted(options, "posix-gateway-" + name),
                flags,
                Objects.requireNonNull(spec).commandLine().getOut());
    }
}
