package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Built;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DocsCommandTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void the_tables_in_the_repository_are_what_the_declarations_say() throws IOException {
        for (String page : new String[] {"configuration.md", "metrics.md"}) {
            Files.copy(Built.root().resolve("docs").resolve(page), folder.resolve(page));
        }
        Path table = folder.resolve("options.tsv");
        InProcess.run(0, "generate-docs", folder.toString(), table.toString());
        assertThat(Built.root().resolve("csi/internal/attributes/options.tsv"))
                .as("the CSI driver checks other options than the gateway; run: make docs")
                .hasSameTextualContentAs(table);
        for (String page : new String[] {"configuration.md", "metrics.md"}) {
            assertThat(Built.root().resolve("docs").resolve(page))
                    .as(page + " is out of date; run: make docs")
                    .hasSameTextualContentAs(folder.resolve(page));
        }
    }

    @Test
    void aTableThatIsOutOfDate_isReplaced_andAPageWithoutAPlaceIsRefused() throws IOException {
        Files.writeString(folder.resolve("configuration.md"), """
                a
                <!-- options: begin -->
                out of date
                <!-- options: end -->
                <!-- words: begin -->
                <!-- words: end -->
                <!-- replaced: begin -->
                <!-- replaced: end -->
                """);
        Files.writeString(folder.resolve("metrics.md"), "no place\n");
        String table = folder.resolve("options.tsv").toString();
        assertThat(InProcess.run(1, "generate-docs", folder.toString(), table)).contains("has no place for the table");
        assertThat(folder.resolve("configuration.md"))
                .content()
                .startsWith("a\n<!-- options: begin -->\n| option |")
                .doesNotContain("out of date");
    }
}
