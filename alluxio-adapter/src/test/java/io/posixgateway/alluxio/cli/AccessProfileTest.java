package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class AccessProfileTest {
    private final AccessProfile profile = new AccessProfile();

    private String shown() {
        StringWriter text = new StringWriter();
        profile.show(new PrintWriter(text));
        return text.toString();
    }

    @Test
    void operations_are_added_up_and_the_most_expensive_comes_first() {
        profile.add("2025.11.21 22:40:01.000001 [uid:0,gid:0,pid:1] lookup (1,a b): ): ENOENT <0.000100>");
        profile.add("2025.11.21 22:40:01.000001 [uid:0,gid:0,pid:1] read (1,65536,0,3): OK (1024) <0.002000>");
        profile.add("2025.11.21 22:40:01.000001 [uid:0,gid:0,pid:1] read (1,65536,0,3): OK (1024) <0.004000>");
        profile.add("2025.11.21 22:40:01.000001 [uid:0,gid:0,pid:1] write (1,4096,0,3): OK (8) <0.000001>");
        profile.add("something else");
        assertThat(profile.lines()).isEqualTo(4);
        assertThat(shown().lines().toList().get(1))
                .containsPattern("^read +2 +0 +3.000ms +4.000ms +0.006s +98.3% +2.0K$");
        assertThat(shown().lines().toList().get(2)).containsPattern("^lookup +1 +1 +0.100ms");
        assertThat(shown()).contains("4.0K", "1 lines are not in the format of an access log, and were skipped");
    }
}
