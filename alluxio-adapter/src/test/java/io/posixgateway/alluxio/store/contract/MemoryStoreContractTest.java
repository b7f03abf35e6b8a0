package io.posixgateway.alluxio.store.contract;

import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.WriteType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

class MemoryStoreContractTest extends StoreContract {
    private final MemoryFixture fixture;

    MemoryStoreContractTest(@TempDir Path blocks) {
        this.fixture = new MemoryFixture(MemoryUfs.Kind.LOCAL, blocks);
    }

    @Override
    protected StoreFixture fixture() {
        return fixture;
    }

    /** What is so of object stores alone. */
    @Nested
    class OverAnObjectStore extends OverwriteContract {
        OverAnObjectStore(@TempDir Path blocks) throws StoreException {
            super(new MemoryFixture(MemoryUfs.Kind.OBJECT_STORE, blocks));
        }
    }

    /** A cluster of its own. */
    private static final class MemoryFixture implements StoreFixture {
        private final MemoryCluster cluster;
        private final Map<String, Store> clients = new HashMap<>();

        private MemoryFixture(MemoryUfs.Kind kind, Path blocks) {
            this.cluster = new MemoryCluster(kind, 1, 1 << 30, blocks);
        }

        @Override
        public Store client(WriteType type, int number) {
            return clients.computeIfAbsent(type.name() + number, key -> cluster.connect(type));
        }

        @Override
        public void writeOutside(String path, byte[] content) {
            cluster.ufs().write(path, content);
        }

        @Override
        public void makeDirectoryOutside(String path) {
            cluster.ufs().makeDirectory(path);
        }

        @Override
        public void deleteOutside(String path) {
            cluster.ufs().delete(path);
        }

        @Override
        public byte @Nullable [] readOutside(String path) {
            return cluster.ufs().read(path);
        }

        @Override
        public List<String> listOutside(String path) {
            return cluster.ufs().list(path);
        }

        @Override
        public void later() {
            cluster.clock().advance(Duration.ofMillis(5));
        }
    }
}
