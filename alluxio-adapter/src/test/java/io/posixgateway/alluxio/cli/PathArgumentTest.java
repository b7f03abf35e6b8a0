package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PathArgumentTest {
    private static byte[] commandLine(String... arguments) {
        return (String.join("\0", arguments) + "\0").getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void namesThatAreNoUtf8_areWrittenAsAlluxioStoresThem() {
        byte[] given = commandLine("java", "info", "/mnt/a\u00FF/b?/\u00E9");
        assertThat(PathArgument.of("/mnt/a\uFFFD/b?/\uFFFD", given)).isEqualTo("/mnt/%pgw%a%FF/b?/%pgw%%E9");
        assertThat(PathArgument.of("x\uFFFD/", commandLine("x\u00FF/"))).isEqualTo("%pgw%x%FF/");
    }

    @Test
    void otherPaths_stayAsTheyAre() {
        assertThat(PathArgument.of("/mnt/b?", commandLine("/mnt/b?"))).isEqualTo("/mnt/b?");
        assertThat(PathArgument.of("/\uFFFD", commandLine("/\u00EF\u00BF\u00BD")))
                .isEqualTo("/\uFFFD");
        assertThat(PathArgument.of("/\uFFFD", commandLine("/other"))).isEqualTo("/\uFFFD");
        assertThat(PathArgument.of("/plain")).isEqualTo("/plain");
    }
}
