package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every line of docs/semantics.md names tests, and there are such tests. */
class SemanticsTest {
    private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern NAME = Pattern.compile("`(\\w+)`");
    private static final Pattern TEST = Pattern.compile("(?:void|def) (\\w+)\\(");

    @Test
    void everyLineOfTheDocumentNamesTestsThatExist() throws IOException {
        Set<String> tests = new TreeSet<>();
        for (String module : List.of("fuse-core", "alluxio-adapter")) {
            try (Stream<Path> files = Files.walk(PROJECT.resolve(module).resolve("src/test"))) {
                files.filter(Files::isRegularFile).forEach(file -> tests.addAll(found(TEST, text(file))));
            }
        }
        int lines = 0;
        for (String line : text(PROJECT.resolve("docs/semantics.md")).lines().toList()) {
            if (!line.startsWith("|") || line.startsWith("|---") || line.endsWith("proven by |")) {
                continue;
            }
            Set<String> named = found(NAME, line.substring(line.lastIndexOf('|', line.length() - 2)));
            assertThat(named).as(line).isNotEmpty();
            assertThat(tests).as(line).containsAll(named);
            lines++;
        }
        assertThat(lines).isGreaterThan(30);
    }

    private static Set<String> found(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toSet());
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
