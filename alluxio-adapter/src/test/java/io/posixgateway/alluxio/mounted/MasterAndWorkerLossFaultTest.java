package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.AlluxioMount;
import io.posixgateway.alluxio.AlluxioOptions;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Alluxio goes away and comes back under a mount: errors in bounded time, then work as before, without remounting. */
class MasterAndWorkerLossFaultTest {
    private static final Duration BOUND = Duration.ofSeconds(90);

    @Test
    void aLostMasterOrWorkerGivesErrorsInBoundedTimeAndComesBackWithoutRemounting() throws Exception {
        try (EmbeddedAlluxio alluxio = EmbeddedAlluxio.start(EmbeddedOptions.defaults());
                MountedFileSystem mounted = MountedFileSystem.mount(
                        AlluxioMount.open(
                                AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + "/"),
                                SharedAlluxio.options(Map.of("metadata_ttl", "1s", "short_circuit", "off"))),
                        TransportChoice.AUTO)) {
            Path file = Files.writeString(mounted.root().resolve("before"), "content");

            alluxio.master().kill();
            long began = System.nanoTime();
            assertThatThrownBy(() -> Files.writeString(mounted.root().resolve("new"), "x"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("Input/output error");
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(BOUND);
            alluxio.master().start();
            alluxio.awaitReady();
            eventually(() -> assertThat(file).hasContent("content"));
            eventually(() -> Files.writeString(mounted.root().resolve("after"), "x"));

            alluxio.workers().get(0).kill();
            began = System.nanoTime();
            assertThatThrownBy(() -> Files.writeString(mounted.root().resolve("unwritten"), "x"))
                    .isInstanceOf(IOException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(BOUND);
            alluxio.workers().get(0).start();
            alluxio.awaitReady();
            eventually(() -> Files.writeString(mounted.root().resolve("again"), "y"));
            assertThat(alluxio.ufs().resolve("again")).hasContent("y");
            eventually(() -> assertThat(file).hasContent("content"));
        }
    }

    /** Something that may fail while Alluxio comes back. */
    private interface Attempt {
        void run() throws IOException;
    }

    private static void eventually(Attempt attempt) throws Exception {
        long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        while (true) {
            try {
                attempt.run();
                return;
            } catch (IOException | AssertionError e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
                Thread.sleep(200);
            }
        }
    }
}
