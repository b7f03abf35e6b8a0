package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.bypass.BypassResult;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.harness.Walk;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.ConformanceSuite;
import io.posixgateway.fuse.conformance.UringSupport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Programs that have the bypass library preloaded do what they do without it, and the gateway gives no more than it may. */
class BypassIT {
    private static final String BLOCK_SIZE = "1MB";

    @TempDir
    private Path folder = Path.of("");

    @BeforeEach
    void asRoot() throws Exception {
        assumeTrue(Built.isRoot(), "only root can give block files away read-only");
    }

    private BypassedMount mount(Map<String, String> options) throws Exception {
        return new BypassedMount(folder.resolve("socket"), BLOCK_SIZE, options);
    }

    /** Makes a file of one block, and one of four. */
    private static void fill(BypassedMount mount) throws Exception {
        BypassedMount.plain(
                "python3",
                "-c",
                "import sys; sys.path.insert(0, sys.argv[1]); import reads\n"
                        + "for n in reads.FILES: open(f'{sys.argv[2]}/{n}', 'wb').write(reads.content(n))",
                BypassedMount.script("python/bypass"),
                mount.root().toString());
        mount.awaitReleases();
    }

    @Test
    void everyWayToReadShowsWhatItShowsWithoutTheLibrary() throws Exception {
        try (BypassedMount mount = mount(Map.of("open_trust", "0"))) {
            fill(mount);
            String[] words = {
                "python3",
                BypassedMount.script("python/bypass/reads.py"),
                mount.root().toString()
            };
            String plain = BypassedMount.plain(words);
            assertThat(mount.bypassed(words)).isEqualTo(plain);
            assertThat(mount.counts().opens()).isGreaterThan(40);
        }
    }

    @Test
    void noReadReachesTheGateway() throws Exception {
        try (BypassedMount mount = mount(Map.of())) {
            fill(mount);
            long before = mount.reads();
            for (String name : List.of("one", "many")) {
                String file = mount.root().resolve(name).toString();
                mount.bypassed("dd", "if=" + file, "of=/dev/null", "bs=100000");
                assertThat(mount.reads()).as("reads of " + name).isEqualTo(before);
                before = mount.reads();
            }
            mount.awaitOpens(2);
            assertThat(mount.counts().opens()).isEqualTo(2);
        }
    }

    @TestFactory
    List<DynamicTest> theConformanceSuite() throws Exception {
        try (BypassedMount mount = mount(Map.of())) {
            List<DynamicTest> verdicts =
                    ConformanceSuite.runShort(mount.withLibrary(), mount.root(), AlluxioConformanceIT.exceptions());
            assertThat(mount.counts().opens()).isGreaterThan(10);
            return verdicts;
        }
    }

    @Test
    void programsAsTheyAre() throws Exception {
        assumeTrue(Command.exists("git") && Command.exists("sqlite3"), "git or sqlite3 is not installed");
        try (BypassedMount mount = mount(Map.of())) {
            BypassedMount.plain(
                    BypassedMount.script("python/bypass/prepare.sh"),
                    mount.root().toString());
            String[] words = {
                BypassedMount.script("python/bypass/programs.sh"), mount.root().toString()
            };
            BypassedMount.plain(words); // until then the times of files that were just written move
            String plain = settled(() -> BypassedMount.plain(words));
            assertThat(settled(() -> mount.bypassed(words))).isEqualTo(plain);
            assertThat(mount.counts().opens()).isGreaterThan(15);
        }
    }

    /** On a slow machine, a time may move later yet: tar, which compares it with what it saw before, says so. */
    private static String settled(Callable<String> programs) throws Exception {
        String told = programs.call();
        for (int tries = 1; tries < 5 && told.contains("file changed as we read it"); tries++) {
            told = programs.call();
        }
        return told;
    }

    @Test
    void threadsAndSignalHandlers() throws Exception {
        try (BypassedMount mount = mount(Map.of())) {
            fill(mount);
            String program = compiled("threads");
            mount.bypassed(program, mount.root().toString(), Boolean.getBoolean("pgw.bypass.long") ? "60" : "3");
            assertThat(mount.counts().opens()).isGreaterThan(100);
        }
    }

    @Test
    void ioUringReadsTheBlockFile() throws Exception {
        UringSupport.assumeIoUring();
        try (BypassedMount mount = mount(Map.of())) {
            fill(mount);
            String[] words = {compiled("ring"), mount.root().resolve("one").toString()};
            long before = mount.reads();
            String bypassed = mount.bypassed(words);
            assertThat(mount.reads()).isEqualTo(before);
            assertThat(bypassed).isEqualTo(BypassedMount.plain(words));
        }
    }

    private String compiled(String name) throws Exception {
        String program = folder.resolve(name).toString();
        String source = BypassedMount.script("c/bypass/" + name + ".c");
        BypassedMount.plain("gcc", "-O2", "-std=c17", "-D_GNU_SOURCE", "-o", program, source, "-l:liburing.a");
        return program;
    }

    /** This JVM's own java, reading by streams, channels and maps. */
    @Test
    void aJvm() throws Exception {
        try (BypassedMount mount = mount(Map.of())) {
            fill(mount);
            Path source = folder.resolve("Sums.java");
            Files.writeString(source, SUMS);
            String java =
                    Path.of(System.getProperty("java.home"), "bin", "java").toString();
            String[] words = {java, source.toString(), mount.root().toString()};
            long before = mount.counts().opens();
            String bypassed = mount.bypassed(words);
            mount.awaitOpens(before + 6);
            assertThat(bypassed).isEqualTo(BypassedMount.plain(words)).contains("many");
        }
    }

    private static final String SUMS = """
            import java.nio.channels.FileChannel;
            import java.nio.file.*;
            import java.util.Arrays;
            class Sums {
                public static void main(String[] args) throws Exception {
                    for (String name : new String[] {"one", "many"}) {
                        Path file = Path.of(args[0], name);
                        byte[] all = Files.readAllBytes(file);
                        try (var stream = new java.io.FileInputStream(file.toFile()); var channel = FileChannel.open(file)) {
                            byte[] streamed = stream.readAllBytes();
                            byte[] mapped = new byte[all.length];
                            channel.map(FileChannel.MapMode.READ_ONLY, 0, all.length).get(mapped);
                            System.out.println(name + Arrays.hashCode(all) + Arrays.equals(all, streamed)
                                    + Arrays.equals(all, mapped) + channel.size() + Files.getAttribute(file, "unix:ino"));
                        }
                    }
                }
            }
            """;

    @Test
    void pyTorchsLoadersWithForkedAndSpawnedWorkers() throws Exception {
        assumeTrue(Boolean.getBoolean("pgw.bypass.long"), "takes long: make bypass-test-long");
        try (BypassedMount mount = mount(Map.of())) {
            String[] words = {
                "/usr/bin/python3",
                BypassedMount.script("python/bypass/loader.py"),
                mount.root().toString()
            };
            BypassedMount.plain(words);
            String plain = BypassedMount.plain(words);
            assertThat(mount.bypassed(words)).isEqualTo(plain).contains("fork").contains("spawn");
            assertThat(mount.counts().opens()).isGreaterThan(4000);
        }
    }

    @Test
    void whoMayNotGetsNothingAndHarmsNobody() throws Exception {
        try (BypassedMount mount = mount(Map.of())) {
            fill(mount);
            Path other = Files.writeString(folder.resolve("other"), "x");
            BypassedMount.plain(
                    "python3",
                    BypassedMount.script("python/bypass/peers.py"),
                    mount.socket().toString(),
                    mount.root().resolve("one").toString(),
                    other.toString());
            Waiting.until(
                    "the refusal is counted",
                    Duration.ofMinutes(1),
                    () -> mount.counts().refused(BypassResult.NOT_READING) > 0);
            String sum = mount.bypassed("md5sum", mount.root().resolve("one").toString());
            assertThat(sum)
                    .isEqualTo(BypassedMount.plain(
                            "md5sum", mount.root().resolve("one").toString()));
        }
    }

    @Test
    void withoutTheGatewaysAnswerFilesAreReadThroughFuse() throws Exception {
        try (BypassedMount mount = mount(Map.of())) {
            fill(mount);
            String file = mount.root().resolve("many").toString();
            String sum = BypassedMount.plain("md5sum", file);
            mount.stopServing();
            assertThat(mount.bypassed("md5sum", file)).isEqualTo(sum);
            assertThat(mount.counts().opens()).isZero();
        }
    }

    @Test
    void smallFilesAreNotWorthAQuestion() throws Exception {
        try (BypassedMount mount = mount(Map.of("bypass", "auto"))) {
            fill(mount);
            mount.bypassed("cp", mount.root().resolve("one").toString(), "/dev/null");
            assertThat(mount.counts().opens() + mount.counts().refused(BypassResult.SMALL))
                    .isZero();
            mount.bypassed("cp", mount.root().resolve("many").toString(), "/dev/null");
            mount.awaitOpens(1);
            assertThat(mount.counts().opens()).isEqualTo(1);
        }
    }

    /** Reads a part, waits for a line, reads the rest. */
    @Test
    void anEvictedBlockIsReadToItsEnd() throws Exception {
        try (BypassedMount mount = mount(Map.of())) {
            fill(mount);
            String sum =
                    BypassedMount.plain("md5sum", mount.root().resolve("one").toString());
            String program = """
                    import hashlib, os, sys
                    fd = os.open(sys.argv[1], os.O_RDONLY)
                    print("open", flush=True)
                    sys.stdin.readline()
                    print(hashlib.md5(os.read(fd, 1 << 24)).hexdigest())
                    """;
            String file = mount.root().resolve("one").toString();
            String[] words = Stream.concat(mount.withLibrary().stream(), Stream.of("python3", "-c", program, file))
                    .toArray(String[]::new);
            try (Command reader = new Command(words)) {
                Waiting.until("the file is open", Duration.ofMinutes(1), () -> reader.output()
                        .contains("open"));
                evictAll();
                reader.tell("go on");
                assertThat(reader.await(60)).isZero();
                assertThat(reader.output()).contains(sum.substring(0, 32));
            }
            assertThat(mount.bypassed("md5sum", file)).isEqualTo(sum);
        }
    }

    /** Takes all block files of this length away, as a worker does that makes room. */
    private static void evictAll() throws IOException {
        for (Path file : Walk.files(SharedAlluxio.running().ufs().getParent())) {
            if (file.toString().contains("/alluxioworker/") && file.toFile().length() == 900_001) {
                Files.delete(file);
            }
        }
    }
}
