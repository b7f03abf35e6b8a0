package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A file of a local under file system, of which workers have no block, is replaced or renamed by another client of Alluxio while it is
 * read: what was opened is read, or an error, never a mix.
 */
class ReplacedFileTest {
    private static final int BLOCK_BYTES = 16 << 20;
    private static final int PIECE_BYTES = 64 << 10;
    /** So many pieces of a copy into the spool are in a block. */
    private static final int PIECES_OF_BLOCK = 16;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryStore other = cluster.connect(WriteType.THROUGH);
    private final MemoryMount mount =
            MemoryMount.of(cluster.connect()).with("read_ahead", "0").open();

    private static byte[] filled(char with) {
        byte[] content = new byte[BLOCK_BYTES + PIECE_BYTES];
        Arrays.fill(content, (byte) with);
        return content;
    }

    @BeforeEach
    void putFile() {
        cluster.ufs().write("/file", filled('o'));
        cluster.clock().advance(Duration.ofMinutes(1)); // what is younger no worker keeps
    }

    @AfterEach
    void unmount() {
        mount.close();
    }

    /** As another gateway does: written beside it, and renamed over it. */
    private void replace() {
        try {
            StoreWriter writer = other.create("/new", 0644, Map.of(), UUID.randomUUID());
            writer.write(filled('n'), 0, BLOCK_BYTES + PIECE_BYTES);
            writer.complete();
            other.rename("/new", "/file", true);
        } catch (StoreException e) {
            throw new AssertionError(e);
        }
    }

    private byte[] read(OpenFile file, long offset) {
        return mount.requests().read(file.opened(), offset, PIECE_BYTES);
    }

    private void isStale(OpenFile file) {
        assertThatThrownBy(() -> read(file, BLOCK_BYTES))
                .isInstanceOfSatisfying(
                        FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ESTALE));
    }

    @Test
    void read_ofFileReplacedAfterItsFirstBlockWasRead_isStaleAndTheNextOpenReadsTheNew() {
        try (OpenFile open = mount.open("/file")) {
            assertThat(read(open, 0)).containsOnly('o');
            replace();
            isStale(open);
            isStale(open);
        }
        assertThat(mount.read("/file").equals("n".repeat(BLOCK_BYTES + PIECE_BYTES)))
                .isTrue();
    }

    /** By whoever asks for its attributes when the kernel believes in them no more. */
    @Test
    void read_ofFileReplacedAfterItsFirstBlockWasRead_isStaleAlsoOnceTheNewFileWasSeen() {
        try (OpenFile open = mount.open("/file")) {
            assertThat(read(open, 0)).containsOnly('o');
            replace();
            cluster.clock().advance(Duration.ofMinutes(1));
            FuseNode before = mount.requests().getattr(open.opened().node().id());
            isStale(open);
            FuseNode now = mount.lookup("/file");
            assertThat(now.inode()).isNotEqualTo(before.inode());
            isStale(open);
            try (OpenFile opened = mount.open("/file")) {
                assertThat(read(opened, BLOCK_BYTES)).containsOnly('n');
            }
        }
    }

    /** As with {@code >} on one host: it is the same file, whose content changed. */
    @Test
    void read_ofFileThatAnotherMountOverwrote_readsTheNewContent() {
        try (MemoryMount writer = MemoryMount.of(cluster);
                OpenFile open = mount.open("/file")) {
            assertThat(read(open, 0)).containsOnly('o');
            writer.write("/file", "new");
            cluster.clock().advance(Duration.ofMinutes(1));
            mount.requests().getattr(open.opened().node().id());
            assertThat(new String(read(open, 0), StandardCharsets.UTF_8)).isEqualTo("new");
        }
    }

    @Test
    void read_ofFileWhosePathAnotherFileGot_readsTheFileWhereItIs() throws Exception {
        try (OpenFile open = mount.open("/file")) {
            assertThat(read(open, 0)).containsOnly('o');
            other.rename("/file", "/renamed", false);
            cluster.ufs().write("/file", filled('n'));
            assertThat(read(open, BLOCK_BYTES)).containsOnly('o');
        }
    }

    @Test
    void write_whileTheFileIsReplaced_changesTheNewOne() {
        try (OpenFile open = mount.openToWrite("/file")) {
            mount.faults().on(StoreCall.READ).nth(PIECES_OF_BLOCK + 1).before(this::replace);
            open.write(1, new byte[] {'w'});
        }
        byte[] wanted = filled('n');
        wanted[1] = 'w';
        assertThat(Arrays.equals(cluster.ufs().read("/file"), wanted)).isTrue();
        assertThat(mount.fileSystem().counts().spoolBytes()).isZero();
    }

    /** A question for each block that is read from there; none for what workers have. */
    @Test
    void read_ofWhatWorkersHave_asksNothing() {
        assertThat(mount.read("/file")).startsWith("o");
        mount.faults().forgetCounts();
        try (OpenFile open = mount.open("/file")) {
            assertThat(read(open, 0)).containsOnly('o');
            assertThat(read(open, BLOCK_BYTES)).containsOnly('o');
        }
        assertThat(mount.faults().counts()).doesNotContainKey(StoreCall.PATH_OF).doesNotContainKey(StoreCall.COMPARED);
    }
}
