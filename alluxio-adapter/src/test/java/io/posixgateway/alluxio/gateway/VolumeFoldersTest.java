package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** A folder that goes with its volume is nobody else's, and goes with no other. */
class VolumeFoldersTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryStore store = cluster.connect();
    private final FoldersInUse inUse = new FoldersInUse(cluster.clock());

    private interface Work<T> {
        T on(VolumeFolders folders) throws IOException;
    }

    /** As the service does: a file system for each call. */
    private <T> T with(MemoryStore client, Work<T> work) throws IOException {
        try (MemoryMount mount = MemoryMount.of(client).open()) {
            return work.on(new VolumeFolders(new FileTree(mount.fileSystem(), NameCodec.ESCAPED), client, inUse));
        }
    }

    private boolean make(String path, String volume) throws IOException {
        return with(store, folders -> folders.make(path, 0777, volume));
    }

    private boolean remove(String path, String volume) throws IOException {
        return with(store, folders -> folders.remove(path, true, volume));
    }

    private boolean archive(String path, String volume) throws IOException {
        return with(store, folders -> folders.rename(path, path + "-archived", volume));
    }

    private void file(String path) {
        try (MemoryMount mount = MemoryMount.of(cluster.connect()).open()) {
            mount.write(path, "precious");
        }
    }

    private boolean exists(String path) {
        try (MemoryMount mount = MemoryMount.of(cluster.connect()).open()) {
            return mount.exists(path);
        }
    }

    private static void fails(int errno, String says, ThrowingCallable call) {
        assertThatThrownBy(call)
                .hasMessageContaining(says)
                .asInstanceOf(InstanceOfAssertFactories.type(TreeException.class))
                .extracting(TreeException::errno)
                .isEqualTo(errno);
    }

    @Test
    void make_again_isDoneAndRemoveTakesAllOfIt() throws IOException {
        assertThat(make("/k/one", "id-1")).isTrue();
        assertThat(make("/k/one", "id-1")).isFalse();
        file("/k/one/f");
        assertThat(remove("/k/one", "id-1")).isTrue();
        assertThat(remove("/k/one", "id-1")).isFalse();
        assertThat(exists("/k/one")).isFalse();
    }

    @Test
    void make_ofAnothersFolder_isRefused() throws IOException {
        make("/k/shared", "id-1");
        fails(Errno.EEXIST, "belongs to the volume id-1", () -> make("/k/shared", "id-2"));
        fails(Errno.EEXIST, "belongs to the volume id-1", () -> make("/k/shared", ""));
        fails(Errno.EEXIST, "belongs to the volume id-1", () -> make("/k/shared/below/it", "id-2"));
        assertThat(exists("/k/shared/below")).isFalse();
    }

    @Test
    void make_ofAFolderThatIsThere_isForVolumesThatLeaveItThere() throws IOException {
        file("/data");
        make("/k/x", "");
        fails(Errno.EEXIST, "onDelete: retain", () -> make("/k/x", "id-1"));
        fails(Errno.EEXIST, "onDelete: retain", () -> make("/k", "id-1"));
        fails(Errno.EEXIST, "onDelete: retain", () -> make("/data", "id-1"));
        assertThat(make("/k/x", "")).isFalse();
    }

    @Test
    void remove_ofWhatIsNotTheVolumesOwn_deletesNothing() throws IOException {
        make("/k/one", "id-1");
        make("/k/shared", "");
        file("/k/one/f");
        file("/k/shared/f");
        assertThat(remove("/k/one", "id-2")).isFalse();
        fails(Errno.EPERM, "belongs to no volume", () -> remove("/k/shared", "id-2"));
        fails(Errno.EPERM, "belongs to no volume", () -> remove("/k", "id-2"));
        assertThat(archive("/k/one", "id-2")).isFalse();
        assertThat(exists("/k/one/f") && exists("/k/shared/f")).isTrue();
        assertThat(archive("/k/one", "id-1")).isTrue();
        assertThat(archive("/k/one", "id-1")).isFalse();
    }

    /** The folder and its mark are made in one step: whoever is killed leaves both or neither. */
    @Test
    void make_whoseAnswerIsLost_isTheVolumesAtTheNextTry() throws IOException {
        MemoryStore client = cluster.connect();
        client.faults().on(StoreCall.MAKE_DIRECTORY).at("/one").loseAnswer();
        assertThatThrownBy(() -> with(client, folders -> folders.make("/one", 0777, "id-1")))
                .isInstanceOf(IOException.class);
        assertThat(make("/one", "id-1")).isFalse();
        assertThat(remove("/one", "id-1")).isTrue();
    }

    /** Both see nobody's folder; the one below sees the other's mark after it made its own. */
    @Test
    void make_belowAFolderThatIsMadeMeanwhile_isUndone() throws IOException {
        MemoryStore client = cluster.connect();
        client.faults().on(StoreCall.MAKE_DIRECTORY).at("/a").before(() -> {
            try {
                store.makeDirectory("/a", 0777, Map.of(VolumeFolders.MARK, "id-1".getBytes(StandardCharsets.UTF_8)));
            } catch (StoreException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThatThrownBy(() -> with(client, folders -> folders.make("/a/b", 0777, "id-2")))
                .isInstanceOf(TreeException.class);
        fails(Errno.EEXIST, "belongs to the volume id-1", () -> make("/a/b", "id-2"));
        assertThat(exists("/a/b")).isFalse();
        assertThat(remove("/a", "id-1")).isTrue();
    }

    /**
     * Whoever waited for the first has given up, and calls again. Were the folder removed by that, its name could be the next volume's
     * before the first goes on, which would remove what that has.
     */
    @Test
    void remove_whileAnotherCallRemovesTheFolder_isRefused() throws Exception {
        make("/k/one", "id-1");
        file("/k/one/a");
        file("/k/one/b");
        MemoryStore slow = cluster.connect();
        StoreFaults.Held hangs = slow.faults().on(StoreCall.DELETE).hold();
        AsyncCall first = AsyncCall.start(() -> with(slow, folders -> folders.remove("/k/one", true, "id-1")));
        hangs.await();
        try {
            fails(Errno.EBUSY, "is in progress; retry when", () -> remove("/k//one/", "id-1"));
            fails(Errno.EBUSY, "is in progress; retry when", () -> archive("/k/one", "id-1"));
            fails(Errno.EBUSY, "is in progress; retry when", () -> make("/k/one", "id-2"));
        } finally {
            hangs.open();
        }
        first.await();
        assertThat(make("/k/one", "id-2")).isTrue();
        file("/k/one/b");
        assertThat(remove("/k/one", "id-1")).isFalse();
        assertThat(exists("/k/one/b")).isTrue();
    }

    @Test
    void remove_thatAlluxioNeverAnswers_isEndedByTheNext() throws Exception {
        make("/k/one", "id-1");
        file("/k/one/a");
        MemoryStore slow = cluster.connect();
        StoreFaults.Held hangs = slow.faults().on(StoreCall.DELETE).hold();
        AsyncCall first = AsyncCall.start(() -> with(slow, folders -> folders.remove("/k/one", true, "id-1")));
        hangs.await();
        cluster.clock().advance(Duration.ofMinutes(2));
        fails(Errno.EBUSY, "is in progress; retry when", () -> remove("/k/one", "id-1"));
        assertThatThrownBy(first::await).isInstanceOf(TreeException.class);
        assertThat(remove("/k/one", "id-1")).isTrue();
        assertThat(exists("/k/one")).isFalse();
    }

    /** Of a folder with many files, each of which the store takes its time for. */
    @Test
    void remove_thatMakesProgress_isNotEndedByTheNext() throws Exception {
        make("/k/one", "id-1");
        for (int file = 0; file < 12; file++) {
            file("/k/one/f" + file);
        }
        MemoryStore slow = cluster.connect();
        AtomicInteger deletes = new AtomicInteger();
        AtomicBoolean ended = new AtomicBoolean();
        slow.faults().on(StoreCall.DELETE).always().before(() -> {
            cluster.clock().advance(Duration.ofSeconds(10));
            if (deletes.incrementAndGet() == 12) {
                fails(Errno.EBUSY, "11 entries so far", () -> remove("/k/one", "id-1"));
                ended.set(Thread.currentThread().isInterrupted());
            }
        });
        boolean removed = with(slow, folders -> folders.remove("/k/one", true, "id-1"));
        assertThat(removed).isTrue();
        assertThat(ended).isFalse();
        assertThat(exists("/k/one")).isFalse();
    }
}
