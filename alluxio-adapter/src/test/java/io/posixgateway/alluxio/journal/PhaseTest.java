package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Built;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class PhaseTest {
    private static final Pattern ROW = Pattern.compile("^\\| ([A-Z]+) \\| ([A-Z, ]*)\\|$", Pattern.MULTILINE);

    private static Map<Phase, Set<Phase>> drawn() throws Exception {
        Map<Phase, Set<Phase>> drawn = new EnumMap<>(Phase.class);
        Matcher row = ROW.matcher(Files.readString(Built.root().resolve("docs/design/write-path.md")));
        while (row.find()) {
            Set<Phase> next = EnumSet.noneOf(Phase.class);
            Arrays.stream(row.group(2).split("[, ]+"))
                    .filter(name -> !name.isEmpty())
                    .forEach(name -> next.add(Phase.valueOf(name)));
            drawn.put(Phase.valueOf(row.group(1)), next);
        }
        return drawn;
    }

    @Test
    void everyTransitionOfTheDocs_andNoOther_isAllowed() throws Exception {
        Map<Phase, Set<Phase>> drawn = drawn();
        assertThat(drawn).containsOnlyKeys(Phase.values());
        for (Phase from : Phase.values()) {
            for (Phase next : Phase.values()) {
                if (drawn.getOrDefault(from, Set.of()).contains(next)) {
                    assertThat(from.to(next)).isEqualTo(next);
                } else {
                    assertThatThrownBy(() -> from.to(next))
                            .as("%s to %s", from, next)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessage("A changed file that is " + from + " cannot become " + next);
                }
            }
        }
    }
}
