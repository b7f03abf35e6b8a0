package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.client.AlluxioStore;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.store.LoadState;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A real Alluxio whose master takes no load: the data is read instead. Loads that it takes are in LoaderIT and ObservabilityIT. */
class WarmupIT {
    private static final int BYTES = 300_000;
    private static final int LARGE_BYTES = 40 << 20;

    private static TestDirectory own;
    private static Store real;

    private final MemoryFileSystem files = new MemoryFileSystem(64 << 20);
    private final FileTree tree = new FileTree(files, NameCodec.ESCAPED);
    private final List<LoadState> told = new ArrayList<>();
    private int entries;
    /** Whoever waits leaves when so many states were told. */
    private int patience = Integer.MAX_VALUE;

    @BeforeAll
    static void start() throws Exception {
        own = Clusters.directory(Clusters.oneWorker());
        real = AlluxioStore.open(new StoreOptions(own.masters(), "", "CACHE_THROUGH", true, Map.of()), Clock.system());
    }

    @AfterAll
    static void end() throws Exception {
        real.close();
    }

    @BeforeEach
    void forget() {
        told.clear();
    }

    /** In the under file system, and in what the volume shows. */
    private void file(String folder, String name, int bytes) throws Exception {
        under(folder, name, bytes);
        shown(folder, name, bytes);
    }

    private static void under(String folder, String name, int bytes) throws IOException {
        Path there = Files.createDirectories(own.ufs().resolve(folder));
        Files.write(there.resolve(name), new byte[bytes]);
    }

    private void shown(String folder, String name, int bytes) throws TreeException {
        tree.makeDirectory("/" + folder, 0755);
        Entry entry = new Entry();
        assertThat(files.lookup(InternalRequest.INSTANCE, FileSystem.ROOT, Name.of(folder), entry))
                .isZero();
        FileSystem.CreateReply reply = new FileSystem.CreateReply();
        assertThat(files.create(InternalRequest.INSTANCE, entry.node, Name.of(name), 0644, 2, reply))
                .isZero();
        ByteBuffer content = ByteBuffer.allocateDirect(bytes);
        assertThat(files.write(InternalRequest.INSTANCE, reply.entry.node, reply.open.handle, 0, content))
                .isEqualTo(bytes);
        files.release(InternalRequest.INSTANCE, reply.entry.node, reply.open.handle);
    }

    /** The real store, but that its master takes no load. */
    private static Store refusing() {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (self, method, arguments) -> {
                    if (method.getName().equals("load")) {
                        throw new StoreException(Errno.EOPNOTSUPP, "no loads here", null);
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private void warm(String path) throws ServiceException {
        Warmup.Progress progress = new Warmup.Progress() {
            @Override
            public boolean entry(long bytes, long warmBytes, boolean failed) {
                entries++;
                return true;
            }

            @Override
            public boolean loading(LoadState state) {
                told.add(state);
                return told.size() < patience;
            }
        };
        new Warmup(tree, refusing(), own.path(), progress, Clock.system(), () -> null).run(path, Warmup.Data.WORKERS);
    }

    private LoadState last() {
        return told.get(told.size() - 1);
    }

    private static int percent(String path) throws StoreException {
        return real.details(own.path() + path).inAlluxioPercent();
    }

    /** A worker tells the master of a block after it has sent it. */
    private static void awaitWarm(String path) throws Exception {
        Eventually.holds(path + " is in Alluxio", () -> percent(path) == 100);
    }

    @Test
    void whatTheMasterDoesNotLoadIsRead() throws Exception {
        file("read", "a", BYTES);
        file("read", "b", BYTES);
        file("read", "empty", 0);
        real.list(own.path() + "/read", "", 10);
        assertThat(percent("/read/a")).isZero();

        warm("/read");

        assertThat(last()).isEqualTo(new LoadState(true, 2L * BYTES, 2L * BYTES, 0, ""));
        assertThat(told.get(0)).isEqualTo(new LoadState(false, 0, 2L * BYTES, 0, ""));
        awaitWarm("/read/a");
        awaitWarm("/read/b");
        assertThat(entries).isEqualTo(4);
    }

    @Test
    void aFileThatCannotBeReadIsCounted() throws Exception {
        file("gone", "here", BYTES);
        shown("gone", "gone", BYTES);

        warm("/gone");

        assertThat(last()).isEqualTo(new LoadState(true, BYTES, 2L * BYTES, 1, ""));
        awaitWarm("/gone/here");
    }

    @Test
    void whoNoLongerWaitsEndsItWithinAFile() throws Exception {
        file("left", "large", LARGE_BYTES);
        file("left", "other", BYTES);
        patience = 2;

        warm("/left/large");

        assertThat(told).hasSizeLessThan(5);
        assertThat(last().loadedBytes()).isBetween(1L, LARGE_BYTES / 2L);
    }
}
