package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Readers and writers of a kept session do not notice that its server is killed and followed by another. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TakeoverFaultTest {
    private static final int KILLS = Integer.getInteger("pgw.kills", 3);

    @Test
    void noCallFailsOrHangsWhenTheServerIsKilled(@TempDir Path work) throws Exception {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "this machine has no /dev/fuse");
        assumeTrue(root(), "only root can mount as a keeper does");
        Path folder = Files.createDirectory(work.resolve("folder"));
        Path target = Files.createDirectory(work.resolve("mount"));
        Process keeper = new ProcessBuilder(
                        "python3",
                        "src/test/python/takeover.py",
                        Integer.toString(KILLS),
                        folder.toString(),
                        target.toString(),
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KeptServer.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String said = new String(keeper.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(keeper.waitFor(10, TimeUnit.SECONDS)).isTrue();
            assertThat(keeper.exitValue()).as(said).isZero();
        } finally {
            keeper.destroyForcibly();
        }
    }

    private static boolean root() throws IOException {
        return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
    }
}
