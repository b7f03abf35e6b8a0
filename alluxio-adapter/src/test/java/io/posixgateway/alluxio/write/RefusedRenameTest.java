package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.fuse.conformance.Eventually;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The under file system refuses the rename over a file that Alluxio has dropped by then. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RefusedRenameTest {
    private static final String NEW = "new content";

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryUfs ufs = cluster.ufs();

    /** It lies in workers only. */
    private void makeCached(String path) throws StoreException {
        StoreWriter sink = cluster.connect(WriteType.MUST_CACHE).create(path, 0644, Map.of(), UUID.randomUUID());
        byte[] content = "in workers only".getBytes(StandardCharsets.UTF_8);
        sink.write(content, 0, content.length);
        sink.complete();
    }

    /** What lies beside is away for now. */
    private List<String> takeHidden() {
        List<String> hidden = ufs.list("/").stream()
                .filter(name -> name.startsWith(".pgw~"))
                .map(name -> "/" + name)
                .toList();
        hidden.forEach(ufs::delete);
        return hidden;
    }

    /** The only thing left to lose is what was written over it: it gets the name once the under file system takes it. */
    @Test
    void close_overFileOfWorkersOnly_thatIsLost_bringsTheNewContentLater() throws Exception {
        makeCached("/file");
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            List<String> taken = new ArrayList<>();
            StoreFaults.Fault refusals =
                    mount.faults().on(StoreCall.RENAME).always().before(() -> taken.addAll(takeHidden()));
            OpenFile file = mount.openToWrite("/file");
            file.truncate(0);
            file.write(NEW);
            assertThatThrownBy(file::close).isInstanceOf(FuseFailure.class);
            refusals.remove();
            taken.forEach(hidden -> ufs.write(hidden, NEW.getBytes(StandardCharsets.UTF_8)));
            Eventually.holds("the new content alone is there", () -> {
                cluster.clock().advance(Duration.ofSeconds(1));
                return ufs.list("/").equals(List.of("file"));
            });
            assertThat(ufs.read("/file")).asString().isEqualTo(NEW);
        }
    }

    @Test
    void rename_overFileOfWorkersOnly_thatIsLost_isDoneToTheFreeName() throws Exception {
        makeCached("/file");
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/new", NEW);
            mount.faults().on(StoreCall.RENAME).before(() -> ufs.delete("/new"));
            mount.faults().on(StoreCall.RENAME).before(() -> ufs.write("/new", NEW.getBytes(StandardCharsets.UTF_8)));
            mount.rename("/new", "/file");
            assertThat(mount.read("/file")).isEqualTo(NEW);
            assertThat(ufs.list("/")).containsExactly("file");
        }
    }

    /** The old file is loaded anew from the under file system, where it has no attributes of ours. */
    @Test
    void rename_overFile_thatIsRefused_leavesItsAttributes() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", "old");
            mount.requests().setxattr(mount.lookup("/file").id(), "user.a", "1");
            mount.write("/new", NEW);
            mount.faults().on(StoreCall.RENAME).before(() -> ufs.delete("/new"));
            assertThatThrownBy(() -> mount.rename("/new", "/file")).isInstanceOf(FuseFailure.class);
            assertThat(mount.read("/file")).isEqualTo("old");
            assertThat(mount.requests().getxattr(mount.lookup("/file").id(), "user.a"))
                    .isEqualTo("1");
        }
    }
}
