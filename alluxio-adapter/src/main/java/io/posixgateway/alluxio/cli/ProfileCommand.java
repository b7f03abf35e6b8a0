package io.posixgateway.alluxio.cli;

import io.grpc.StatusRuntimeException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Where the time of a mount goes, by operation. */
@Command(
        name = "profile",
        description = "Summarises the requests of a mount by operation: live, or from an access log.",
        footer = {
            "",
            "A live profile follows the access log without writing a file. Requests that the kernel answers",
            "from its caches are not counted.",
            "",
            "Examples:",
            "  posix-gateway profile /mnt/data                     10 seconds",
            "  posix-gateway profile /mnt/data --seconds 60",
            "  posix-gateway profile --file /var/log/posix-gateway/mnt-data.access.log"
        })
final class ProfileCommand implements Callable<Integer> {
    @Parameters(arity = "0..1", paramLabel = "MOUNTPOINT", description = "A mount of posix-gateway, or any path in it.")
    private @Nullable String path;

    @Option(names = "--file", paramLabel = "FILE", description = "Read an access log instead.")
    private @Nullable Path file;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "10",
            description = "Length of the profile; default ${DEFAULT-VALUE}.")
    private int seconds;

    @Mixin
    private Target target = new Target();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        if ((path == null) == (file == null)) {
            throw new CommandException((path == null
                            ? "neither a mount point nor --file is given"
                            : path + " and --file " + file + " are given")
                    + "; give one of them: a mount point, or an access log with --file");
        }
        AccessProfile profile = new AccessProfile();
        if (file != null) {
            read(file, profile);
        } else {
            follow(Objects.requireNonNull(path), profile, out);
        }
        profile.show(out);
        return 0;
    }

    private static void read(Path file, AccessProfile profile) {
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            String line = lines.readLine();
            while (line != null) {
                profile.add(line);
                line = lines.readLine();
            }
        } catch (IOException e) {
            throw new CommandException(
                    "the access log " + file + " cannot be read: " + e.getMessage() + "; give a readable file with"
                            + " --file",
                    e);
        }
    }

    private void follow(String where, AccessProfile profile, PrintWriter out) {
        try (Target.Found found = target.find(where)) {
            long lost = AccessLogReader.follow(found, seconds, lines -> lines.forEach(profile::add));
            out.println(profile.lines() + " requests in " + seconds + " s at " + where
                    + (lost == 0 ? "" : "; " + lost + " more came too fast and were not counted"));
        } catch (StatusRuntimeException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }
}
