package io.posixgateway.alluxio.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.client.StoreParts;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.gateway.BypassEndpoint;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.posixgateway.alluxio.gateway.WatchLimits;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A mount that no command can reach. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MountedGatewayIT {
    private final CountDownLatch never = new CountDownLatch(1);

    private void hang() {
        try {
            never.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Nothing else interrupts the call: the program could not even be killed. */
    @Test
    void aCallOfAnAlluxioThatHangs_isInterrupted_thoughThereIsNoSocket(@TempDir Path folder) throws Exception {
        MemoryStore store = new MemoryCluster(MemoryUfs.Kind.LOCAL).connect();
        Path mountPoint = Files.createDirectory(folder.resolve("mount"));
        Path noFolder = Files.createFile(folder.resolve("file"));
        Map<String, String> options = Map.of("spool", folder.resolve("spool").toString());
        AlluxioFileSystem files = AlluxioMount.open(
                StoreParts.metered(store, Clock.system()),
                "/",
                AdapterOptions.of(AdapterOptions.TABLE.read(options)),
                Clock.system());
        try (FuseSession session = FuseSession.mount(files, mountPoint, SessionOptions.defaults())) {
            ServedVolume volume = ServedVolume.mounted(
                    AttachRequest.newBuilder().setVolume("v").build(),
                    files,
                    session,
                    new WatchLimits(0, TimeUnit.SECONDS.toNanos(1), 0),
                    folder.resolve("access.log"));
            try (MountedGateway gateway = MountedGateway.start(
                    volume, noFolder.resolve("socket"), "test", new BypassEndpoint(Path.of(""), Clock.system()))) {
                store.faults().on(StoreCall.STATUS).at("/x").always().before(this::hang);
                FutureTask<Boolean> looks = new FutureTask<>(() -> Files.exists(mountPoint.resolve("x")));
                new Thread(looks).start();
                assertThat(looks.get(60, TimeUnit.SECONDS)).isFalse();
                Eventually.holds(
                        "it counts what it interrupted",
                        () -> gateway.named("v").watch().interrupted() > 0);
            } finally {
                never.countDown();
            }
        }
    }
}
