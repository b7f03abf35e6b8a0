package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.client.StoreParts;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.UfsKind;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An object is replaced behind Alluxio's back while it is read: what was opened is read, or an error, never a mix. */
class ReplacedObjectTest {
    private static final int BLOCK_BYTES = 16 << 20;
    private static final int PIECE_BYTES = 64 << 10;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
    private final MemoryMount mount =
            MemoryMount.of(cluster.connect()).with("read_ahead", "0").open();
    private final byte[] old = filled('o');
    private final byte[] replacement = filled('n');

    private static byte[] filled(char with) {
        byte[] content = new byte[BLOCK_BYTES + PIECE_BYTES];
        Arrays.fill(content, (byte) with);
        return content;
    }

    @BeforeEach
    void putObject() {
        cluster.ufs().write("/object", old);
        cluster.clock().advance(Duration.ofMinutes(1)); // what is younger no worker keeps
    }

    @AfterEach
    void unmount() {
        mount.close();
    }

    private byte[] read(OpenFile file, long offset) {
        return mount.requests().read(file.opened(), offset, PIECE_BYTES);
    }

    private void isStale(OpenFile file, long offset) {
        assertThatThrownBy(() -> read(file, offset))
                .isInstanceOfSatisfying(
                        FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ESTALE));
    }

    @Test
    void read_ofObjectReplacedAfterItsFirstBlockWasRead_isStaleAndTheNextOpenReadsTheNew() {
        try (OpenFile open = mount.open("/object")) {
            assertThat(read(open, 0)).containsOnly('o');
            cluster.ufs().write("/object", replacement);
            isStale(open, BLOCK_BYTES);
            isStale(open, BLOCK_BYTES);
        }
        assertThat(mount.read("/object").equals("n".repeat(replacement.length))).isTrue();
    }

    @Test
    void read_ofWhatWorkersHave_comparesNothing() {
        try (OpenFile open = mount.open("/object")) {
            assertThat(read(open, 0)).containsOnly('o');
            assertThat(read(open, BLOCK_BYTES)).containsOnly('o');
        }
        mount.faults().forgetCounts();
        try (OpenFile open = mount.open("/object")) {
            assertThat(read(open, 0)).containsOnly('o');
            assertThat(read(open, BLOCK_BYTES)).containsOnly('o');
        }
        assertThat(mount.faults().count(StoreCall.COMPARED)).isZero();
    }

    @Test
    void compare_ofFileThatWasRenamedMeanwhile_isOfItWhereItIs() throws Exception {
        MemoryStore store = mount.store();
        long file = store.status("/object").id();
        store.rename("/object", "/renamed", false);
        assertThat(StoreParts.isOfFile(store, UfsKind.OBJECT_STORE, "/object", file))
                .isFalse();
        assertThat(StoreParts.isOfFile(store, UfsKind.OBJECT_STORE, "/renamed", file))
                .isTrue();
        cluster.ufs().write("/renamed", replacement);
        assertThatThrownBy(() -> StoreParts.isOfFile(store, UfsKind.OBJECT_STORE, "/object", file))
                .hasMessageContaining("/object was replaced in the under file system")
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ESTALE));
    }
}
