package io.posixgateway.alluxio.store.contract;

import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.WriteType;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

class MemoryStoreContractTest extends StoreContract {
    private final MemoryFixture fixture = new MemoryFixture();

    @Override
    protected StoreFixture fixture() {
        return fixture;
    }

    /** A cluster of its own. */
    private static final class MemoryFixture implements StoreFixture {
        private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        private final Map<String, Store> clients = new HashMap<>();

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
            cluster.clock().advance(Duration.ofMillis(1));
        }
    }
}
