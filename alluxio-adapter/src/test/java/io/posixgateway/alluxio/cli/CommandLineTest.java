package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class CommandLineTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        CommandLine command = Main.commandLine();
        command.setOut(new PrintWriter(out));
        command.setErr(new PrintWriter(err));
        return command.execute(arguments);
    }

    @Test
    void version_names_the_program_and_its_java() {
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).startsWith("posix-gateway ").contains("Java 17");
    }

    @Test
    void help_shows_every_command_with_examples() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString())
                .contains("mount", "umount", "demo", "serve", "testfs", "Examples:")
                .contains("posix-gateway mount alluxio://host:19998/data /mnt/data");
    }

    @Test
    void help_of_each_command_has_an_example() {
        for (String command : new String[] {"mount", "umount", "demo", "serve", "testfs"}) {
            out.getBuffer().setLength(0);
            assertThat(run(command, "--help")).isZero();
            assertThat(out.toString()).contains("Example", "posix-gateway " + command);
        }
    }

    @Test
    void without_a_command_says_what_is_missing_and_shows_the_commands() {
        assertThat(run()).isEqualTo(2);
        assertThat(err.toString()).contains("a command is missing", "mount", "umount");
    }

    @Test
    void an_unknown_mount_option_is_a_wrong_argument_and_the_known_ones_are_told() {
        assertThat(run("mount", "alluxio://h:1/", "/mnt", "-o", "colour=red")).isEqualTo(2);
        assertThat(err.toString()).contains("option 'colour' is not known; known are transport, ro");
    }

    @Test
    void a_bad_value_of_an_option_is_told_with_what_is_allowed() {
        assertThat(run("testfs", "memory", "/mnt", "--transport", "pigeon")).isEqualTo(2);
        assertThat(err.toString())
                .contains("option transport=pigeon is not allowed; transport is one of auto, uring, devfuse, libfuse");
    }

    @Test
    void an_option_known_from_elsewhere_is_told_what_replaced_it() {
        assertThat(run("testfs", "memory", "/mnt", "-o", "attr_timeout=10")).isEqualTo(2);
        assertThat(err.toString()).contains("option 'attr_timeout' is replaced by metadata_ttl");
    }

    @Test
    void a_place_that_is_not_in_alluxio_is_refused_with_the_forms_there_are() {
        assertThat(run("mount", "hdfs://h/data", "/mnt")).isEqualTo(1);
        assertThat(err.toString()).contains("'hdfs://h/data' is no Alluxio URI; write alluxio://HOST:PORT/PATH");
    }

    @Test
    void an_unknown_log_level_is_refused() {
        assertThat(run("umount", "/nowhere", "--log-level", "LOUD")).isEqualTo(2);
        assertThat(err.toString())
                .contains("log level 'LOUD' is not known; it is one of ERROR, WARN, INFO, DEBUG, TRACE");
    }

    @Test
    void a_bad_address_is_refused() {
        assertThat(run("serve", "--http", "nonsense")).isEqualTo(1);
        assertThat(err.toString()).contains("--http nonsense: give HOST:PORT");
    }

    @Test
    void unmounting_what_is_not_mounted_says_so(@TempDir Path folder) {
        assertThat(run("umount", folder.toString())).isEqualTo(1);
        assertThat(err.toString()).contains("nothing is mounted at " + folder);
    }

    @Test
    void unmounting_what_is_not_ours_is_refused() {
        assertThat(run("umount", "/proc")).isEqualTo(1);
        assertThat(err.toString()).contains("/proc is a mount of type proc, not one of posix-gateway");
    }
}
