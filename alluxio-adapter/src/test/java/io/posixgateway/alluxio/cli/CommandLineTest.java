package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.gateway.FileSystemFactory;
import io.posixgateway.alluxio.gateway.Logging;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
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
    void help_ofEachCommand_hasTwoExamplesAndTheWordsOfTheGlossary() {
        Main.commandLine().getSubcommands().forEach((name, command) -> {
            if (command.getCommandSpec().usageMessage().hidden()) {
                return;
            }
            out.getBuffer().setLength(0);
            assertThat(run(name, "--help")).isZero();
            assertThat(out.toString().lines().filter(line -> line.startsWith("  posix-gateway " + name)))
                    .as(name)
                    .hasSizeGreaterThanOrEqualTo(2);
            assertThat(out.toString())
                    .doesNotContainPattern("\\b(goes? on|is told|tells|under way|publish(ed|es)?)\\b");
        });
    }

    @Test
    void without_a_command_says_what_is_missing_and_shows_the_commands() {
        assertThat(run()).isEqualTo(2);
        assertThat(err.toString()).contains("a command is missing", "mount", "umount");
    }

    @Test
    void an_unknown_mount_option_is_a_wrong_argument_and_the_known_ones_are_told() {
        assertThat(run("mount", "alluxio://h:1/", "/mnt", "-o", "colour=red")).isEqualTo(2);
        assertThat(err.toString()).contains("option 'colour' is not known; give one of transport, ro");
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
    void anEarlierNameOfAnOption_isTakenWithOneWarning() {
        Logging.setUp("INFO");
        String begin = "begin " + UUID.randomUUID(); // other tests of this JVM warn of it, too
        LoggerFactory.getLogger(CommandLineTest.class).info(begin);
        assertThat(run("mount", "alluxio://h:1/", "/mnt", "-o", "ro,stand_back=off", "--check-options"))
                .isZero();
        assertThat(Logging.recent().split(begin, -1)[1].lines())
                .filteredOn(line -> line.contains("option 'stand_back' was renamed to sched_idle; use that name"))
                .hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            direct_io                                     | not needed
            kernel_cache                                  | not needed
            attr_timeout=7200                             | replaced by metadata_ttl
            entry_timeout=7200                            | replaced by metadata_ttl
            max_read=131072                               | replaced by max_io
            alluxio.fuse.auth.policy.class=x              | replaced by uid, gid and umask
            alluxio.fuse.cached.paths.max=500             | replaced by cache_entries
            alluxio.fuse.fs.name=x                        | not needed
            alluxio.fuse.jnifuse.libfuse.version=2        | replaced by transport
            alluxio.fuse.logging.threshold=10s            | replaced by the histograms
            alluxio.fuse.mount.alluxio.path=/             | the path of the Alluxio URI
            alluxio.fuse.mount.point=/mnt                 | the mount point on the command line
            alluxio.fuse.mount.options=ro                 | replaced by -o
            alluxio.fuse.user.group.translation.enabled   | not needed
            alluxio.fuse.web.enabled                      | replaced by posix-gateway serve
            alluxio.fuse.umount.timeout=1s                | replaced by
            alluxio.fuse.debug.enabled                    | without a counterpart
            alluxio.user.metadata.cache.enabled           | not needed
            alluxio.user.metadata.cache.expiration.time=1 | replaced by metadata_ttl
            alluxio.user.metadata.cache.max.size=1        | replaced by cache_entries
            alluxio.user.client.cache.enabled             | not needed
            alluxio.user.client.cache.size=1G             | not needed
            alluxio.user.file.metadata.sync.interval=1    | set it in alluxio-site.properties
            alluxio.user.short.circuit.enabled            | replaced by short_circuit
            alluxio.user.short.circuit.preferred=true     | set it in alluxio-site.properties
            alluxio.user.streaming.reader.buffer.size.messages=1 | set it in alluxio-site.properties
            alluxio.user.file.readtype.default=CACHE      | set it in alluxio-site.properties
            alluxio.user.file.writetype.default=THROUGH   | replaced by write_type
            alluxio.user.block.size.bytes.default=1       | set it in alluxio-site.properties
            """)
    void an_option_of_alluxiofuse_is_answered_with_what_to_do(String option, String answer) {
        assertThat(run("mount", "alluxio://h:1/", "/mnt", "-o", option)).isEqualTo(2);
        assertThat(err.toString()).contains("option '" + option.split("=", 2)[0] + "' is ", answer);
    }

    @ParameterizedTest
    @CsvSource({
        "--attr-cache, replaced by metadata_ttl",
        "--entry-cache, replaced by metadata_ttl",
        "--dir-entry-cache, replaced by metadata_ttl",
        "--open-cache, replaced by consistency=ttl",
        "--cache-dir, not needed",
        "--cache-size, not needed",
        "--writeback, replaced by write_type",
        "--read-only, replaced by -o ro",
        "--subdir, the path of the Alluxio URI",
        "--metrics, replaced by posix-gateway serve",
        "--max-uploads, has no counterpart"
    })
    void a_flag_of_juicefs_is_answered_with_what_to_do(String flag, String answer) {
        assertThat(run("mount", "alluxio://h:1/", "/mnt", flag + "=1")).isEqualTo(2);
        assertThat(err.toString()).contains("option '" + flag + "' is " + answer);
    }

    /** What the flags say is seen by giving them values that are refused: then nothing is mounted. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--buffer-size=0     | option buffer_size=0M is not allowed",
                "--buffer-size=1X    | option buffer_size=1X is not allowed",
                "--max-readahead=2G  | option read_ahead=2G is not allowed",
                "--max-readahead=2048| option read_ahead=2048M is not allowed",
                "--prefetch=many     | Invalid value for option '--prefetch'"
            })
    void flags_that_juicefs_has_too_are_taken(String flag, String answer) {
        assertThat(run("mount", "alluxio://h:1/", "/mnt", flag)).isEqualTo(2);
        assertThat(err.toString()).contains(answer);
    }

    @ParameterizedTest
    @CsvSource({
        "--buffer-size=300, buffer_size, 300M",
        "--buffer-size=2G, buffer_size, 2G",
        "--max-readahead=4, read_ahead, 4M",
        "--max-readahead=512K, read_ahead, 512K",
        "--prefetch=3, prefetch, on",
        "--prefetch=0, prefetch, off"
    })
    void flags_that_juicefs_has_too_set_options(String flag, String option, String value) {
        MountFlags flags = CommandLine.populateCommand(new MountFlags(), flag);
        assertThat(flags.read(FileSystemFactory.OPTIONS).given()).containsExactly(Map.entry(option, value));
    }

    @Test
    void an_unknown_flag_is_refused_with_the_flags_there_are_in_a_few_lines() {
        assertThat(run("mount", "alluxio://h:1/", "/mnt", "--colour=red")).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("posix-gateway: Unknown option: '--colour=red'")
                .contains("[--keeper[=SOCKET]]")
                .endsWith("posix-gateway mount --help explains each" + System.lineSeparator());
        assertThat(err.toString().lines().count()).isLessThan(10);
    }

    @Test
    void a_command_that_is_not_known_is_refused_with_where_they_are_listed() {
        assertThat(run("mout")).isEqualTo(2);
        assertThat(err.toString()).contains("'mout'").contains("posix-gateway --help lists the commands");
    }

    @Test
    void a_place_that_is_not_in_alluxio_is_refused_with_the_forms_there_are() {
        assertThat(run("mount", "hdfs://h/data", "/mnt")).isEqualTo(1);
        assertThat(err.toString()).contains("'hdfs://h/data' is not an Alluxio URI; give alluxio://HOST:PORT/PATH");
    }

    @Test
    void an_unknown_log_level_is_refused() {
        assertThat(run("umount", "/nowhere", "--log-level", "LOUD")).isEqualTo(2);
        assertThat(err.toString())
                .contains("log level 'LOUD' is not known; give one of ERROR, WARN, INFO, DEBUG, TRACE");
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
    void figures_of_what_is_no_mount_of_ours_are_refused(@TempDir Path folder) {
        assertThat(run("stats", "--count", "2", "/proc")).isEqualTo(1);
        assertThat(err.toString())
                .contains("/proc is in a mount of type proc at /proc, not of posix-gateway; create one with"
                        + " 'posix-gateway mount'");
        Path missing = folder.resolve("missing");
        assertThat(run("stats", "--count", "2", missing.toString())).isEqualTo(1);
        assertThat(err.toString()).contains(missing + " is in a mount of type ", "not of posix-gateway");
    }

    @Test
    void unmounting_what_is_not_ours_is_refused() {
        assertThat(run("umount", "/proc")).isEqualTo(1);
        assertThat(err.toString()).contains("/proc is a mount of type proc, not of posix-gateway");
    }
}
