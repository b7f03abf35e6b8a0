package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.gateway.FileSystemFactory;
import io.posixgateway.alluxio.metrics.GatewayMetric;
import io.posixgateway.alluxio.options.OptionTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Writes the declared options and metrics into the pages of the documentation, between the markers of each table, and the options
 * into a file for the CSI driver, which checks them as the gateway does.
 */
@Command(
        name = "generate-docs",
        hidden = true,
        description = "Fills the tables of configuration.md and metrics.md, and the CSI driver's table of options.")
final class DocsCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "FOLDER", description = "Where the pages are.")
    private Path folder = Path.of("");

    @Parameters(index = "1", paramLabel = "FILE", description = "The CSI driver's table of options.")
    private Path table = Path.of("");

    @Override
    public Integer call() throws IOException {
        OptionTable options = FileSystemFactory.OPTIONS;
        fill(
                "configuration.md",
                Map.of(
                        "options",
                        options.markdown(),
                        "words",
                        options.wordsMarkdown(),
                        "replaced",
                        options.replacedMarkdown()));
        fill("metrics.md", Map.of("metrics", GatewayMetric.markdown()));
        Files.writeString(table, options.tabSeparated());
        return 0;
    }

    private void fill(String name, Map<String, String> tables) throws IOException {
        Path page = folder.resolve(name);
        String text = Files.readString(page);
        for (Map.Entry<String, String> table : tables.entrySet()) {
            text = between(page, text, table.getKey(), table.getValue());
        }
        Files.writeString(page, text);
    }

    private static String between(Path page, String text, String name, String table) {
        String begin = "<!-- " + name + ": begin -->\n";
        int from = text.indexOf(begin);
        int to = text.indexOf("<!-- " + name + ": end -->");
        if (from < 0 || to < from) {
            throw new CommandException(page + " has no place for the table: give it lines '" + begin.strip()
                    + "' and '<!-- " + name + ": end -->'");
        }
        return text.substring(0, from + begin.length()) + table + text.substring(to);
    }
}
