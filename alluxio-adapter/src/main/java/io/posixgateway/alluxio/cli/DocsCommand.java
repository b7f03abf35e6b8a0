package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.gatewaymetrics.GatewayMetric;
import io.posixgateway.alluxio.options.OptionTable;
import io.posixgateway.alluxio.service.AlluxioVolumes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Writes the pages of the documentation that are made from the declared options and metrics. */
@Command(name = "generate-docs", hidden = true, description = "Writes configuration.md and metrics.md into a folder.")
final class DocsCommand implements Callable<Integer> {
    private static final String NOTE =
            "<!-- Made by `make docs` from the declarations in the source; do not edit. -->\n\n";

    @Parameters(paramLabel = "FOLDER", description = "Where to write them.")
    private Path folder = Path.of("");

    @Override
    public Integer call() throws IOException {
        Files.writeString(folder.resolve("configuration.md"), configuration(AlluxioVolumes.OPTIONS));
        Files.writeString(folder.resolve("metrics.md"), metrics());
        return 0;
    }

    private static String configuration(OptionTable options) {
        return NOTE + "# Configuration\n\n"
                + "Options of a mount stand behind `-o` of `posix-gateway mount` (`-o name=value,name`), in the `options` of"
                + " an attach request, and in the `mountOptions` of a volume in Kubernetes. An unknown name or a value that"
                + " is not allowed is refused, with what is.\n\n"
                + "Where `write_type` or `short_circuit` is not given, `alluxio.user.file.writetype.default` and"
                + " `alluxio.user.short.circuit.enabled` count, from alluxio-site.properties or `--property`; other properties"
                + " that an option replaces do nothing, and the log of the mount names those that are set.\n\n"
                + "Flags of `posix-gateway mount` that JuiceFS has too: `--buffer-size` sets `buffer_size`, `--max-readahead`"
                + " sets `read_ahead` (of both a bare number is MiB), `--prefetch` sets `prefetch` (0: off).\n\n"
                + "## Mount options\n\n"
                + options.markdown()
                + "\n## Words of mount(8)\n\n"
                + "These are taken, too, also from /etc/fstab ([fstab.md](fstab.md)).\n\n"
                + options.wordsMarkdown()
                + "\n## Options of other file systems\n\n"
                + options.replacedMarkdown()
                + "\n## Environment of `bin/posix-gateway`\n\n"
                + "| variable | default | what it does |\n|---|---|---|\n"
                + "| `JAVA_HOME` | `java` of the PATH | the Java to run, 17 or newer |\n"
                + "| `POSIX_GATEWAY_HEAP` | `1g` | most heap |\n"
                + "| `POSIX_GATEWAY_DIRECT` | `1g` | most memory of direct buffers |\n"
                + "| `POSIX_GATEWAY_JAVA_OPTS` | – | more options of the JVM |\n"
                + "| `POSIX_GATEWAY_STANDBY` | `false` | in the image, of `serve`: `true` keeps a second JVM ready |\n";
    }

    private static String metrics() {
        return NOTE + "# Metrics\n\n"
                + "`posix-gateway serve` offers these at `/metrics` (`--http`). Histograms have classic buckets, each bound"
                + " four times the one before; a reader that asks for the protobuf format, as Prometheus does where native"
                + " histograms are switched on, gets native ones too, in which a value is known to 25 %. A series of an"
                + " operation or an error appears when it first happens. The metrics of the JVM (`jvm_*`, `process_*`) are"
                + " those of the Prometheus Java client.\n\n"
                + GatewayMetric.markdown();
    }
}
