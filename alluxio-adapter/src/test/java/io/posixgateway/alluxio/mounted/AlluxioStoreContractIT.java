package io.posixgateway.alluxio.mounted;

import io.posixgateway.alluxio.AlluxioMount;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.alluxio.store.contract.StoreContract;
import io.posixgateway.alluxio.store.contract.StoreFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
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
    private static final class AlluxioFixture implements StoreFixture, AutoCloseable {
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

        @Override
        public void writeOutside(String path, byte[] content) throws IOException {
            Path file = SharedAlluxio.ufs(path);
            Files.createDirectories(file.getParent());
            Files.write(file, content);
        }

        @Override
        public void makeDirectoryOutside(String path) throws IOException {
            Files.createDirectories(SharedAlluxio.ufs(path));
        }

        @Override
        public void deleteOutside(String path) throws IOException {
            Files.delete(SharedAlluxio.ufs(path));
        }

        @Override
        public byte @Nullable [] readOutside(String path) throws IOException {
            Path file = SharedAlluxio.ufs(path);
            return Files.isRegularFile(file) ? Files.readAllBytes(file) : null;
        }

        @Override
        public List<String> listOutside(String path) throws IOException {
            Path folder = SharedAlluxio.ufs(path);
            if (!Files.isDirectory(folder)) {
                return List.of();
            }
            try (Stream<Path> names = Files.list(folder)) {
                return names.map(name -> name.getFileName().toString()).sorted().toList();
            }
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
