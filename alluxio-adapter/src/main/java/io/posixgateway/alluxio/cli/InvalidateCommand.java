package io.posixgateway.alluxio.cli;

import io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.control.proto.InvalidateRequest;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Invalidates what a mount cached. */
@Command(
        name = "invalidate",
        description = "Invalidates what a mount cached for a path and everything below it, in the gateway and in the"
                + " kernel.",
        footer = {
            "",
            "Examples:",
            "  posix-gateway invalidate /mnt/data/incoming",
            "  posix-gateway invalidate --volume pvc-1 /"
        })
final class InvalidateCommand implements Callable<Integer> {
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
            long entries = found.client()
                    .calls()
                    .invalidate(InvalidateRequest.newBuilder()
                            .setVolume(found.volume().getVolume())
                            .setPath(found.path())
                            .build())
                    .getEntries();
            out.println(entries + " entries invalidated");
        } catch (StatusRuntimeException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
        out.flush();
        return 0;
    }
}
