package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Built;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DocsCommandTest {
    @Test
    void the_pages_in_the_repository_are_what_the_declarations_say(@TempDir Path folder) {
        assertThat(Main.commandLine().execute("generate-docs", folder.toString()))
                .isZero();
        for (String page : new String[] {"configuration.md", "metrics.md"}) {
            assertThat(Built.root().resolve("docs").resolve(page))
                    .as(page + " is out of date; run: make docs")
                    .hasSameTextualContentAs(folder.resolve(page));
        }
    }
}
