package io.posixgateway.alluxio.cli;

import io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.control.proto.DiagnoseRequest;
import io.posixgateway.alluxio.gateway.Redactor;
import io.posixgateway.alluxio.gateway.StoreAdvice;
import io.posixgateway.alluxio.gateway.SupportBundle;
import io.posixgateway.fuse.session.MountTable.Mount;
import io.posixgateway.fuse.time.Clock;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Gathers what a maintainer needs into one file. */
@Command(
        name = "doctor",
        description =
                "Collects everything that support needs in one .tar.gz: versions, kernel features and why some are"
                        + " off, sessions, metrics, a thread dump, the last log lines. Secrets are removed.",
        footer = {
            "",
            "It uses the gateway's control socket, never the mount, so it works when the mount hangs. Check the file"
                    + " before",
            "you pass it on: it contains paths of your files.",
            "",
            "Examples:",
            "  posix-gateway doctor /mnt/data",
            "  posix-gateway doctor                 the service of this node",
            "  posix-gateway doctor -O /tmp/help.tar.gz /mnt/data",
            "  kubectl -n posix-gateway exec POD -c gateway -- posix-gateway doctor -O - >help.tar.gz"
        })
final class DoctorCommand implements Callable<Integer> {
    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final Path STANDARD_OUTPUT = Path.of("-");

    @Parameters(
            arity = "0..1",
            paramLabel = "MOUNTPOINT",
            description = "A mount of posix-gateway; default: the service.")
    private @Nullable String path;

    @Option(
            names = {"-O", "--output"},
            paramLabel = "FILE",
            description =
                    "Output file, or - for standard output; default posix-gateway-doctor-TIME.tar.gz in the current"
                            + " folder.")
    private @Nullable Path output;

    @Mixin
    private Target target = new Target();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        CommandLine line = Objects.requireNonNull(spec).commandLine();
        boolean toStandardOutput = STANDARD_OUTPUT.equals(output);
        PrintWriter out = toStandardOutput ? line.getErr() : line.getOut();
        Instant now = Clock.system().instant();
        Path file = output == null ? Path.of("posix-gateway-doctor-" + STAMP.format(now) + ".tar.gz") : output;
        Map<String, String> texts = new LinkedHashMap<>();
        String trouble = ask(texts);
        Redactor redactor = new Redactor(List.of(System.getenv()));
        local().forEach((name, text) -> texts.put(name, redactor.clean(text)));
        texts.put("gateway.txt", trouble.isEmpty() ? "answered\n" : "did not answer: " + trouble + "\n");
        try (TarGz archive = new TarGz(
                toStandardOutput ? new FileOutputStream(FileDescriptor.out) : TarGz.file(file), now.getEpochSecond())) {
            for (Map.Entry<String, String> text : texts.entrySet()) {
                archive.add("posix-gateway-doctor/" + text.getKey(), text.getValue());
            }
        } catch (IOException e) {
            throw new CommandException(file + " cannot be written: " + e + "; give another with --output", e);
        }
        out.println((toStandardOutput ? "the bundle" : file) + " holds " + String.join(", ", texts.keySet()));
        String advice = texts.getOrDefault(SupportBundle.ADVICE, StoreAdvice.NONE);
        if (!advice.equals(StoreAdvice.NONE)) {
            out.print(advice);
        }
        if (!trouble.isEmpty()) {
            out.println("the gateway did not respond (" + trouble + "), so this shows only what is visible without it");
        }
        out.flush();
        return 0;
    }

    /** What the gateway tells; why it does not, or empty. */
    private String ask(Map<String, String> texts) {
        try (ControlClient client = path == null
                ? new ControlClient(target.service())
                : target.find(path).client()) {
            client.calls()
                    .diagnose(DiagnoseRequest.getDefaultInstance())
                    .getTextsMap()
                    .forEach(texts::put);
            return "";
        } catch (StatusRuntimeException e) {
            return String.valueOf(e.getMessage());
        } catch (CommandException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** What can be seen from here. */
    private static Map<String, String> local() {
        Map<String, String> texts = new LinkedHashMap<>();
        texts.put("command.txt", "posix-gateway " + Main.version() + ", Java " + Runtime.version() + "\n");
        texts.put(
                "mounts.txt",
                String.join(
                                "\n",
                                MountTable.mounts().stream()
                                        .filter(mount -> mount.type().startsWith("fuse"))
                                        .map(Mount::toString)
                                        .toList())
                        + "\n");
        texts.put("kernel-log.txt", run("dmesg", "--level=emerg,alert,crit,err,warn"));
        return texts;
    }

    /** The last lines that a command prints. */
    private static String run(String... command) {
        try {
            Path said = Files.createTempFile("posix-gateway-doctor", "");
            try {
                Process process = new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(said.toFile())
                        .start();
                process.getOutputStream().close();
                if (!process.waitFor(10, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
                try (Stream<String> lines = Files.lines(said)) {
                    List<String> all = lines.toList();
                    return String.join("\n", all.subList(Math.max(0, all.size() - 300), all.size())) + "\n";
                }
            } finally {
                Files.deleteIfExists(said);
            }
        } catch (IOException | java.io.UncheckedIOException e) {
            return "not available: " + e + "\n";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted\n";
        }
    }
}
