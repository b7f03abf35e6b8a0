package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.gateway.FileSystemFactory;
import io.posixgateway.alluxio.gateway.JvmWarmup;
import io.posixgateway.alluxio.gateway.Logging;
import io.posixgateway.alluxio.gateway.OutOfMemory;
import io.posixgateway.alluxio.options.OptionException;
import java.io.PrintWriter;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command {@code posix-gateway}. Exit codes: 0 done, 1 failed (one line says why and what to do), 2 wrong arguments. */
@Command(
        name = "posix-gateway",
        description = "Mounts Alluxio paths as POSIX file systems.",
        subcommands = {
            MountCommand.class,
            UmountCommand.class,
            StatsCommand.class,
            InfoCommand.class,
            WarmupCommand.class,
            SyncCommand.class,
            InvalidateCommand.class,
            ProfileCommand.class,
            AccessLogCommand.class,
            DoctorCommand.class,
            DemoCommand.class,
            ServeCommand.class,
            TestFsCommand.class,
            DocsCommand.class
        },
        versionProvider = Main.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Examples:",
            "  posix-gateway demo                               real Alluxio with sample data, mounted at ./mnt",
            "  posix-gateway mount alluxio://host:19998/data /mnt/data -o ro,metadata_ttl=5m",
            "  posix-gateway umount /mnt/data",
            "  posix-gateway testfs memory /mnt/scratch         a file system in memory",
            "  posix-gateway stats /mnt/data                    requests, throughput and cache hits of a mount, every"
                    + " second",
            "  posix-gateway warmup /mnt/data/train             load metadata and data before a job needs them",
            "  posix-gateway doctor /mnt/data                   one file with everything that support needs",
            "  posix-gateway serve                              the service behind the CSI driver",
            "",
            "posix-gateway COMMAND --help explains a command."
        })
@SuppressWarnings({"UnusedVariable", "UnusedMethod"}) // picocli uses them
public final class Main implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Main.class);

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help and exit.")
    private boolean help;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version and exit.")
    private boolean version;

    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            scope = ScopeType.INHERIT,
            defaultValue = "INFO",
            description = "ERROR, WARN, INFO, DEBUG or TRACE; default ${DEFAULT-VALUE}.")
    private void logLevel(String level) {
        Logging.setUp(level);
    }

    @Option(
            names = "--log-format",
            paramLabel = "text|json",
            scope = ScopeType.INHERIT,
            defaultValue = "text",
            description = "text: lines for people; json: one JSON object per line; default ${DEFAULT-VALUE}.")
    private void logFormat(String format) {
        Logging.setFormat(format);
    }

    @Spec
    private @Nullable CommandSpec spec;

    public static void main(String[] args) {
        OutOfMemory.endsTheProcess();
        if (args.length > 0 && args[0].equals("serve")) {
            Logging.setUp("INFO");
            JvmWarmup.begin();
        }
        EndOnSignal.exit(commandLine().execute(args));
    }

    /** The commands, ready to execute; what they print goes to the writers set in it. */
    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setExecutionExceptionHandler(Main::explain)
                .setParameterExceptionHandler(Main::refuse)
                .setUsageHelpWidth(110)
                .setCaseInsensitiveEnumValuesAllowed(true);
    }

    /** Without a command: shows what there is. */
    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec().commandLine(), "a command is missing");
    }

    private CommandSpec spec() {
        return Objects.requireNonNull(spec, "picocli sets it");
    }

    /**
     * Wrong arguments: says what is wrong and what there is, in a few lines; of a flag of another file system, what to do instead.
     */
    private static int refuse(CommandLine.ParameterException failure, String... arguments) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        if (failure instanceof CommandLine.UnmatchedArgumentException unmatched) {
            String flag = unmatched.getUnmatched().get(0).split("=", 2)[0];
            String hint = FileSystemFactory.OPTIONS.hint(flag);
            if (hint != null) {
                err.println("posix-gateway: option '" + flag + "' is " + hint);
                return CommandLine.ExitCode.USAGE;
            }
        }
        err.println("posix-gateway: " + failure.getMessage());
        boolean chosen = command.getSubcommands().isEmpty();
        if (!CommandLine.UnmatchedArgumentException.printSuggestions(failure, err)) {
            err.print(chosen ? command.getHelp().fullSynopsis() : command.getUsageMessage());
        }
        err.println(command.getCommandSpec().qualifiedName() + " --help "
                + (chosen ? "explains each" : "lists the commands"));
        return CommandLine.ExitCode.USAGE;
    }

    private static int explain(Exception failure, CommandLine command, CommandLine.ParseResult parsed) {
        PrintWriter err = command.getErr();
        boolean ours = failure instanceof CommandException || failure instanceof OptionException;
        String text = ours ? String.valueOf(failure.getMessage()) : describe(failure);
        err.println("posix-gateway: " + text);
        err.flush();
        Background.reportFailure(text);
        if (ours) {
            LOG.debug("The command failed", failure);
        } else {
            LOG.error("The command failed", failure);
        }
        return failure instanceof OptionException ? CommandLine.ExitCode.USAGE : CommandLine.ExitCode.SOFTWARE;
    }

    private static String describe(Exception failure) {
        return failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }

    /** The version in the jar's manifest. */
    static String version() {
        String version = Main.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {
                "posix-gateway " + version() + " (Java " + Runtime.version() + ", " + System.getProperty("os.arch")
                        + ")"
            };
        }
    }
}
