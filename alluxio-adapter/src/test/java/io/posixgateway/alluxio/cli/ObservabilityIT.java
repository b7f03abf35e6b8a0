package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.control.proto.ListRequest;
import io.posixgateway.alluxio.control.proto.MetricsRequest;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.gateway.Redactor;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that look at a mount, on a plain mount of a real Alluxio. */
class ObservabilityIT {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int BYTES = 200_000;
    private static final int WARM_FILES = 40;
    private static final int MIB = 1 << 20;
    private static final int SEQUENCE_BITS = 24;
    private static final String REMOVED = Redactor.REMOVED;
    private static final String PLANTED = "planted-s3cr3t-0815";

    private static EmbeddedAlluxio alluxio;
    private static TestDirectory own;

    @TempDir
    private Path folder = Path.of("");

    private Path mount = Path.of("");

    @BeforeAll
    static void startAlluxio() throws Exception {
        Built.gateway();
        alluxio = Clusters.oneWorker();
        own = Clusters.directory(alluxio);
        Path data = Files.createDirectory(own.ufs().resolve("data"));
        for (int i = 0; i < 3; i++) {
            Files.write(data.resolve("file" + i), new byte[BYTES]);
        }
    }

    @BeforeEach
    void makeMountPoint() throws Exception {
        mount = Files.createDirectory(folder.resolve("mnt"));
    }

    @AfterEach
    void discardMount() throws Exception {
        Mounts.discard(mount);
    }

    private static String run(int exit, String... arguments) {
        return InProcess.run(exit, arguments);
    }

    private String runAlone(int exit, String... arguments) throws Exception {
        try (Program program = Program.gateway(folder, arguments)) {
            assertThat(program.await(LIMIT)).as(program.output()).isEqualTo(exit);
            return program.output();
        }
    }

    private void mount(String... more) throws Exception {
        mountPath("/data", more);
    }

    /** What the command said. */
    private String mountPath(String path, String... more) throws Exception {
        List<String> all =
                new ArrayList<>(List.of("mount", own.uri() + path, mount.toString(), "--log-file", log().toString()));
        all.addAll(List.of(more));
        return runAlone(0, all.toArray(String[]::new));
    }

    private Path log() {
        return folder.resolve("mount.log");
    }

    @Test
    void a_mount_is_looked_at_warmed_and_profiled_while_it_is_used() throws Exception {
        mount();
        String file = mount.resolve("file1").toString();
        assertThat(run(0, "info", file))
                .contains(
                        own.path() + "/data/file1 in Alluxio",
                        "length      " + BYTES,
                        "in Alluxio  0%",
                        "read path   ufs: ");
        assertThat(run(1, "warmup", "--check", mount.toString())).contains("0% of 586K in Alluxio");
        assertThat(run(0, "warmup", mount.toString())).contains("100% of 586K in Alluxio, 3 entries");
        assertThat(run(0, "warmup", "--check", mount.toString())).contains("100% of 586K");
        assertThat(Files.readAllBytes(mount.resolve("file1"))).hasSize(BYTES);
        assertThat(run(0, "info", file)).contains("in Alluxio  100%", "read path   local: ", "this host");
        assertThat(run(1, "info", mount.resolve("absent").toString())).contains("there is no 'absent'");
        twoLinesOfStats();
        accessLog();
        assertThat(run(0, "invalidate", mount.toString())).containsPattern("[1-9][0-9]* entries invalidated");
        assertThat(run(0, "profile", mount.toString(), "--seconds", "1")).contains("requests in 1 s at ");
        run(0, "umount", mount.toString());
        assertThat(run(1, "stats", mount.toString())).contains("not of posix-gateway");
    }

    /** Of what is done meanwhile; then it ends by itself. */
    private void twoLinesOfStats() throws Exception {
        try (Program stats = Program.gateway(folder, "stats", mount.toString(), "--count", "2")) {
            AtomicInteger asked = new AtomicInteger();
            Waiting.until("it ends", LIMIT, () -> {
                assertThat(mount.resolve("absent" + asked.incrementAndGet())).doesNotExist();
                return !stats.isAlive();
            });
            assertThat(stats.await(LIMIT)).as(stats.output()).isZero();
            List<String> lines = stats.output().lines().toList();
            assertThat(lines).hasSize(3);
            assertThat(lines.get(0)).contains("ops/s", "hit%", "rpc/s");
            for (String line : lines.subList(1, 3)) {
                assertThat(line.trim().split(" +")).hasSize(12).doesNotContain("");
                assertThat(line.trim()).matches("[1-9][0-9.K]* +[0-9.]+[um]?s .* [1-9][0-9.]*[MG] +[0-9]+");
            }
        }
    }

    @Test
    void what_is_warm_is_shown_without_the_master_and_read_from_the_worker() throws Exception {
        Path warm = own.ufs().resolve("warm");
        Path deep = Files.createDirectories(warm.resolve("deep"));
        for (int i = 0; i < WARM_FILES; i++) {
            Path below = i % 2 == 0 ? deep : warm;
            Files.write(below.resolve("f" + i), new byte[BYTES]);
        }
        mountPath("/warm", "-o", "consistency=ttl,metadata_ttl=1h");
        assertThat(run(0, "warmup", "--metadata-only", mount.toString())).contains(WARM_FILES + 1 + " entries");
        MetricsText before = metrics();
        assertThat(metadataCalls(before).get("list")).isPositive();
        List<Path> all = files();
        assertThat(all).hasSize(WARM_FILES);
        assertThat(mount.resolve("deep/absent")).doesNotExist();
        assertThat(metadataCalls(metrics())).isEqualTo(metadataCalls(before));

        assertThat(run(0, "warmup", mount.toString())).contains("100% of ");
        before = metrics();
        for (Path file : all) {
            assertThat(file).hasBinaryContent(new byte[BYTES]);
        }
        MetricsText after = metrics();
        assertThat(after.sum("source_read_bytes_total", "source=\"local\"")
                        - before.sum("source_read_bytes_total", "source=\"local\""))
                .isEqualTo(WARM_FILES * BYTES);
        assertThat(after.sum("ufs_read_bytes_total")).isEqualTo(before.sum("ufs_read_bytes_total"));
        run(0, "umount", mount.toString());
    }

    /** With their attributes, as {@code ls -lR} asks for them. */
    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(mount)) {
            List<Path> files = all.filter(Files::isRegularFile).toList();
            for (Path file : files) {
                assertThat(Files.size(file)).isEqualTo(BYTES);
            }
            return files;
        }
    }

    private MetricsText metrics() {
        try (ControlClient client = new ControlClient(MountSocket.of(mount))) {
            String volume = client.calls()
                    .list(ListRequest.getDefaultInstance())
                    .getVolumes(0)
                    .getVolume();
            return new MetricsText(
                    client.calls().metrics(MetricsRequest.getDefaultInstance()).getText(), volume);
        }
    }

    private static Map<String, Double> metadataCalls(MetricsText metrics) {
        Map<String, Double> calls = new TreeMap<>();
        for (String method : new String[] {"status", "list", "file_path"}) {
            calls.put(method, metrics.sum("rpc_duration_seconds_count", "method=\"" + method + "\""));
        }
        return calls;
    }

    @Test
    void a_file_is_told_with_its_inode_its_blocks_and_how_it_would_be_read() throws Exception {
        Files.write(Files.createDirectory(own.ufs().resolve("told")).resolve("cold"), new byte[BYTES]);
        mountPath("/told", "--property", "alluxio.user.block.size.bytes.default=1MB");

        Path one = Files.write(mount.resolve("one"), new byte[MIB]);
        assertThat(told(one, MIB))
                .contains("read path   local: a worker on this host has blocks of it; the first open looks up where");
        assertThat(one).hasBinaryContent(new byte[MIB]);
        assertThat(told(one, MIB)).contains("read path   local: its block is a file of a worker");

        Path many = Files.write(mount.resolve("many"), new byte[2 * MIB + MIB / 2]);
        assertThat(told(many, MIB, MIB, MIB / 2))
                .contains("blocks      3 of up to 1.0M", "read path   local: all 3 blocks are files of a worker");

        assertThat(run(0, "info", mount.resolve("cold").toString()))
                .contains(
                        "in no worker",
                        "read path   ufs: 1 of 1 blocks are not in a file of a worker on this host, nor of any other");
        run(0, "umount", mount.toString());
    }

    /** What is told of a file whose blocks, of these lengths, are in the worker here. */
    private String told(Path file, int... blocks) throws Exception {
        String told = run(0, "info", file.toString());
        Matcher numbers =
                Pattern.compile("inode {7}(\\d+) \\(Alluxio file id (\\d+)\\)").matcher(told);
        assertThat(numbers.find()).as(told).isTrue();
        assertThat(Long.parseLong(numbers.group(1))).isEqualTo(Files.getAttribute(file, "unix:ino"));
        long firstBlock = Long.parseLong(numbers.group(2)) >>> SEQUENCE_BITS << SEQUENCE_BITS;
        for (int i = 0; i < blocks.length; i++) {
            assertThat(told).contains("  " + (firstBlock + i) + "  " + blocks[i] + "  127.0.0.1 (MEM, this host)\n");
        }
        return told;
    }

    @Test
    void a_warmup_is_ended_by_ctrl_c_and_the_next_one_goes_on() throws Exception {
        Path cold = Files.createDirectory(own.ufs().resolve("cold"));
        for (int i = 0; i < 3; i++) {
            Files.write(cold.resolve("file" + i), new byte[BYTES]);
        }
        mountPath("/cold");
        ServerProcess worker = alluxio.workers().get(0);
        worker.pause();
        try (Program warmup = Program.gateway(folder, "warmup", mount.toString())) {
            warmup.awaitOutput("0% of 586K in Alluxio, 3 entries\n", LIMIT);
            new ProcessBuilder("kill", "-INT", String.valueOf(warmup.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
            assertThat(warmup.await(LIMIT)).isEqualTo(128 + 2);
            assertThat(warmup.output())
                    .contains("posix-gateway: interrupted at 0% of 586K in Alluxio, 3 entries", "continues from there")
                    .doesNotContain("\r", "\u001b");
            // Before the worker goes on with what it has been asked for.
            assertThat(run(1, "warmup", "--check", mount.toString())).contains("0% of 586K in Alluxio, 3 entries");
        } finally {
            worker.resume();
        }
        Waiting.until("the next one goes on, with a worker that the master knows again", LIMIT, this::isWarmed);
        assertThat(onTerminal("warmup --check " + mount))
                .contains("\r[##############################] 100% of 586K in Alluxio, 3 entries\u001b[K");
        run(0, "umount", mount.toString());
    }

    private boolean isWarmed() {
        try {
            return run(0, "warmup", mount.toString()).contains("100% of 586K in Alluxio, 3 entries");
        } catch (AssertionError notYet) {
            return false;
        }
    }

    /** What the gateway's program writes to a terminal. */
    private String onTerminal(String arguments) throws Exception {
        String command = Built.gateway() + " " + arguments;
        try (Program program = Program.start(folder, List.of("script", "-qec", command, "/dev/null"))) {
            assertThat(program.await(LIMIT)).as(program.output()).isZero();
            return program.output();
        }
    }

    private void accessLog() throws Exception {
        Path lines = folder.resolve("mount.access.log");
        assertThat(run(0, "accesslog", "on", mount.toString())).contains(lines.toString());
        run(0, "accesslog", "on", mount.toString());
        assertThat(Files.exists(mount.resolve("not there"))).isFalse();
        run(0, "accesslog", "off", mount.toString());
        Waiting.until(
                "the last line is written", LIMIT, () -> Files.readString(lines).contains("not there"));
        assertThat(Files.readString(lines))
                .containsPattern(
                        "\\[uid:\\d+,gid:\\d+,pid:\\d+\\] lookup \\(1,not there\\): (ENOENT|OK.*) <0\\.\\d{6}>\\n");
        long size = Files.size(lines);
        assertThat(Files.exists(mount.resolve("not there either"))).isFalse();
        assertThat(run(0, "profile", "--file", lines.toString())).contains("lookup");
        assertThat(Files.size(lines)).isEqualTo(size);
    }

    @Test
    void the_doctor_tells_everything_but_secrets() throws Exception {
        Path site = folder.resolve("alluxio-site.properties");
        Files.writeString(site, "s3a.secretKey=" + PLANTED + "\n");
        mount("--site-properties", site.toString(), "--property", "alluxio.user.app.id=here-" + PLANTED);
        Path bundle = folder.resolve("bundle.tar.gz");
        runAlone(0, "doctor", "-O", bundle.toString(), mount.toString());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(bundle)))
                .isEqualTo("rw-------");
        Path unpacked = Files.createDirectory(folder.resolve("unpacked"));
        Process tar = new ProcessBuilder("tar", "-xzf", bundle.toString(), "-C", unpacked.toString())
                .inheritIO()
                .start();
        assertThat(tar.waitFor()).isZero();
        Path texts = unpacked.resolve("posix-gateway-doctor");
        assertThat(Files.readString(texts.resolve("gateway.txt"))).isEqualTo("answered\n");
        assertThat(Files.readString(texts.resolve("volumes.txt")))
                .contains("transport ", "volume " + mount, "here-" + REMOVED);
        assertThat(Files.readString(texts.resolve("threads.txt"))).contains("\"watchdog\"");
        assertThat(Files.readString(texts.resolve("metrics.txt"))).contains("posix_gateway_build_info");
        assertThat(Files.readString(texts.resolve("kernel.txt"))).contains("Linux version", "enable_uring");
        try (Stream<Path> all = Files.list(texts)) {
            for (Path text : all.toList()) {
                assertThat(Files.readString(text)).as(text.toString()).doesNotContain(PLANTED);
            }
        }
        run(0, "umount", mount.toString());
    }

    @Test
    void what_others_changed_in_the_under_file_system_is_seen_after_a_sync() throws Exception {
        Path sub = Files.createDirectories(own.ufs().resolve("synced/sub"));
        Files.writeString(sub.resolve("old"), "old");
        mountPath("/synced");
        assertThat(mount.resolve("sub").toFile().list()).containsExactly("old");
        Files.delete(sub.resolve("old"));
        Files.writeString(sub.resolve("new"), "new");
        assertThat(run(0, "sync", mount.toString())).contains("2 folders, 2 entries compared");
        assertThat(mount.resolve("sub").toFile().list()).containsExactly("new");
        assertThat(run(1, "sync", mount.resolve("absent").toString())).contains("absent could not be compared");
        run(0, "umount", mount.toString());
    }

    @Test
    void a_call_that_hangs_is_named_with_its_stack_and_interrupted() throws Exception {
        mount("-o", "slow_request=1s,interrupt_after=3s");
        alluxio.master().pause();
        try {
            Process reader = new ProcessBuilder(
                            "stat", mount.resolve("unheard-of").toString())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("stat.out").toFile())
                    .start();
            Waiting.until("the call is interrupted", LIMIT, () -> text(log()).contains("is interrupted"));
            assertThat(reader.waitFor()).isNotZero();
            assertThat(text(folder.resolve("stat.out"))).contains("timed out");
            Pattern named = Pattern.compile("(lookup|getattr) of " + own.path() + "/data .*is not answered for [1-9]");
            Waiting.until(
                    "it is named with its stack",
                    LIMIT,
                    () -> named.matcher(text(log())).find() && text(log()).contains("    at "));
        } finally {
            alluxio.master().resume();
        }
        Waiting.until(
                "Alluxio answers again",
                LIMIT,
                () -> mount.resolve("file0").toFile().length() == BYTES);
        run(0, "umount", mount.toString());
    }

    private static String text(Path file) throws IOException {
        return Files.exists(file) ? Files.readString(file) : "";
    }
}
