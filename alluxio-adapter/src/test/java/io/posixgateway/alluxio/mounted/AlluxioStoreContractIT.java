package io.posixgateway.alluxio.mounted;

import io.posixgateway.alluxio.embedded.UnderStoreClient;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.alluxio.store.contract.StoreContract;
import io.posixgateway.alluxio.store.contract.StoreFixture;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;

/** The contract of stores on Alluxio itself. */
class AlluxioStoreContractIT extends StoreContract {
    private static final AlluxioFixture FIXTURE = new AlluxioFixture();

    @Override
    protected StoreFixture fixture() {
        return FIXTURE;
    }

    @AfterAll
    static void disconnect() {
        FIXTURE.close();
    }

    /** The Alluxio of this JVM. */
    static final class AlluxioFixture implements StoreFixture, AutoCloseable {
        private final Map<String, Store> clients = new HashMap<>();

        @Override
        public Store client(WriteType type, int number) throws StoreException {
            String key = type.name() + number;
            Store known = clients.get(key);
            if (known == null) {
                known = AlluxioMount.connect(
                        SharedAlluxio.at("/"), SharedAlluxio.options(Map.of("write_type", type.name())));
                clients.put(key, known);
            }
            return known;
        }

        private static UnderStoreClient outside() {
            return SharedAlluxio.running().underStore();
        }

        @Override
        public void writeOutside(String path, byte[] content) throws IOException {
            outside().put(path.substring(1), content);
        }

        @Override
        public void makeDirectoryOutside(String path) throws IOException {
            outside().makeDirectory(path.substring(1));
        }

        @Override
        public void deleteOutside(String path) throws IOException {
            outside().delete(path.substring(1));
        }

        @Override
        public byte @Nullable [] readOutside(String path) throws IOException {
            return outside().get(path.substring(1));
        }

        @Override
        public List<String> listOutside(String path) throws IOException {
            return outside().names(path.substring(1));
        }

        /** Alluxio's times are milliseconds of this machine's clock. */
        @Override
        public void later() throws InterruptedException {
            long before = System.currentTimeMillis();
            while (System.currentTimeMillis() <= before + 1) {
                Thread.sleep(1);
            }
        }

        @Override
        public void close() {
            clients.values().forEach(Store::close);
            clients.clear();
        }
    }
}
