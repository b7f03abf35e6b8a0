package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.conformance.UringSupport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers and writers of a persistent session do not notification that its server is killed and followed by another. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TakeoverFaultTest {
    private static final int KILLS = Integer.getInteger("pgw.kills", 3);
    /** So many kills and more. */
    private static final int LONG_FORM = 5;

    @ParameterizedTest
    @CsvSource({"devfuse,KILL", "devfuse,TERM", "uring,KILL", "uring,TERM"})
    void noCallFailsOrHangsWhenTheServerEnds(String transport, String signal, @TempDir Path work) throws Exception {
        if (transport.equals("uring")) {
            UringSupport.assume();
        }
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "this machine has no /dev/fuse");
        assumeTrue(root(), "only root can mount as a keeper does");
        serveByTurns(transport, signal, Map.of(), work);
    }

    /** What Linux 5.4 to 6.6 lack, one by one and all together: at most calls in flight fail, and none hangs. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "resend KILL",
                "has_resend KILL",
                "resend,has_resend,uring,passthrough,readdirplus,max_pages KILL",
                "resend,has_resend,uring,passthrough,readdirplus,max_pages TERM"
            })
    void anOlderKernelLosesNoMoreThanTheCallsInFlight(String lacks, String signal, @TempDir Path work)
            throws Exception {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "this machine has no /dev/fuse");
        assumeTrue(root(), "only root can mount as a keeper does");
        String said = serveByTurns("devfuse", signal, Map.of("KERNEL_LACKS", lacks, "READERS", "8"), work);
        assertThat(said)
                .contains(
                        lacks.startsWith("resend")
                                ? "takeover clone(calls in flight fail when this process is killed)"
                                : "takeover resend");
    }

    /** The rest of what these kernels lack: they send again, so no call fails. In the long form, as each row takes a while. */
    @ParameterizedTest
    @ValueSource(strings = {"uring", "passthrough", "readdirplus", "max_pages"})
    void aKernelThatSendsAgainLosesNoCallWhateverElseItLacks(String lacks, @TempDir Path work) throws Exception {
        assumeTrue(KILLS >= LONG_FORM, "the long form: make fault");
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "this machine has no /dev/fuse");
        assumeTrue(root(), "only root can mount as a keeper does");
        serveByTurns("devfuse", "KILL", Map.of("KERNEL_LACKS", lacks, "READERS", "8"), work);
    }

    /** What comes while nobody serves is fetched though nothing else comes by that would bring it along. */
    @Test
    void whoIsAloneGoesOnAfterTheServerEnded(@TempDir Path work) throws Exception {
        UringSupport.assume();
        assumeTrue(root(), "only root can mount as a keeper does");
        serveByTurns("uring", "KILL", Map.of("READERS", "1", "WRITERS", "0", "ONE_CPU", "yes"), work);
    }

    /** What it says. */
    private static String serveByTurns(String transport, String signal, Map<String, String> load, Path work)
            throws Exception {
        Path folder = Files.createDirectory(work.resolve("folder"));
        Path target = Files.createDirectory(work.resolve("mount"));
        ProcessBuilder builder = new ProcessBuilder(
                        "python3",
                        "src/test/python/takeover.py",
                        Integer.toString(KILLS),
                        signal,
                        transport,
                        folder.toString(),
                        target.toString(),
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KeptServer.class.getName())
                .redirectErrorStream(true);
        builder.environment().putAll(load);
        Process keeper = builder.start();
        try {
            String said = new String(keeper.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(keeper.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(keeper.exitValue()).as(said).isZero();
            return said;
        } finally {
            keeper.destroyForcibly();
        }
    }

    private static boolean root() throws IOException {
        return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
    }
}
