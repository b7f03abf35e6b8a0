package io.posixgateway.alluxio.cli;

import io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.control.proto.SetAccessLogRequest;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The access log of a mount. */
@Command(
        name = "accesslog",
        description = "Switches the access log of a mount on or off, or shows requests as they happen.",
        footer = {
            "",
            "'on' logs to a file (64 MiB, and one older file) until 'off'; 'show' prints requests here until Ctrl-C.",
            "Requests never wait for the log: lines that come faster than they can be written are dropped and counted.",
            "Format: time [uid,gid,pid] operation (node,size,offset,handle or node,name): result <seconds>",
            "",
            "Examples:",
            "  posix-gateway accesslog on /mnt/data",
            "  posix-gateway accesslog show /mnt/data"
        })
final class AccessLogCommand implements Callable<Integer> {
    private enum Action {
        ON,
        OFF,
        SHOW
    }

    @Parameters(index = "0", paramLabel = "on|off|show", description = "What to do.")
    private Action action = Action.SHOW;

    @Parameters(index = "1", paramLabel = "MOUNTPOINT", description = "A mount of posix-gateway, or any path in it.")
    private String path = "";

    @Mixin
    private Target target = new Target();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        try (Target.Found found = target.find(path)) {
            if (action == Action.SHOW) {
                show(found, out);
                return 0;
            }
            boolean on = action == Action.ON;
            try {
                String file = found.client()
                        .calls()
                        .setAccessLog(SetAccessLogRequest.newBuilder()
                                .setVolume(found.volume().getVolume())
                                .setOn(on)
                                .build())
                        .getFile();
                out.println("the access log is " + (on ? "on: " + file : "off; it is in " + file));
            } catch (StatusRuntimeException e) {
                throw found.client().explained(e);
            }
        }
        out.flush();
        return 0;
    }

    private static void show(Target.Found found, PrintWriter out) {
        EndOnSignal signals = EndOnSignal.atOnce();
        try {
            AccessLogReader.follow(found, TimeUnit.DAYS.toSeconds(365), lines -> {
                lines.forEach(out::println);
                out.flush();
            });
        } finally {
            signals.close();
        }
    }
}
