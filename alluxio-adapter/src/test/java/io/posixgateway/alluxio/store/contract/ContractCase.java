package io.posixgateway.alluxio.store.contract;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreNames;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.store.WriteType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;

/** What the parts of the contract have in common: a client, a folder of its own for each test, and short names for what is done. */
abstract class ContractCase {
    private static final AtomicInteger FOLDERS = new AtomicInteger();

    final StoreFixture fixture;
    private String folder = "";
    Store store;

    ContractCase(StoreFixture fixture) throws StoreException {
        this.fixture = fixture;
        this.store = fixture.client(WriteType.CACHE_THROUGH, 0);
    }

    @BeforeEach
    void makeFolder() throws StoreException {
        folder = "/contract-" + FOLDERS.incrementAndGet() + "-" + UUID.randomUUID();
        store.makeDirectory(folder, 0777, Map.of());
    }

    /** The path of a name in the test's folder. */
    String at(String name) {
        return name.isEmpty() ? folder : folder + "/" + name;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static StoreWriter begin(Store by, String path) throws StoreException {
        return by.create(path, 0644, Map.of(), UUID.randomUUID());
    }

    static void put(StoreWriter sink, String text) throws StoreException {
        sink.write(bytes(text), 0, bytes(text).length);
    }

    /** A whole file; its id. */
    static long write(Store by, String path, String text) throws StoreException {
        StoreWriter sink = begin(by, path);
        put(sink, text);
        sink.complete();
        return sink.fileId();
    }

    long write(String path, String text) throws StoreException {
        return write(store, path, text);
    }

    String read(String path) throws StoreException {
        FileStatus status = store.status(path);
        return read(path, status.id(), (int) status.lengthBytes());
    }

    String read(String path, long id, int length) throws StoreException {
        try (StoreReader source = store.open(path, id)) {
            ByteBuffer into = ByteBuffer.allocate(length + 1);
            int count = source.read(0, into);
            return new String(into.array(), 0, count, StandardCharsets.UTF_8);
        }
    }

    List<String> list(String path) throws StoreException {
        return names(store.list(path, "", 1000));
    }

    static List<String> names(Store.Page page) {
        return page.entries().stream().map(FileStatus::name).toList();
    }

    /** Text of the UFS; empty: there is no such file. */
    String outside(String path) throws IOException {
        byte[] content = fixture.readOutside(path);
        return content == null ? "" : new String(content, StandardCharsets.UTF_8);
    }

    /** For what is so only where a rename of the under file system replaces what is there. */
    void assumeRenamesReplace() throws StoreException {
        assumeFalse(store.deletesToReplace(at("")), "the master deletes in the under file system, too");
    }

    /** For names with a colon. */
    void assumeColons() throws StoreException {
        assumeFalse(store.status(at("")).storeNames() == StoreNames.WITHOUT_COLON, "HDFS takes no colon");
    }

    /** Something that fails. */
    interface Act {
        void run() throws StoreException;
    }

    static void assertFails(int errno, Act act) {
        assertThatThrownBy(act::run)
                .isInstanceOfSatisfying(StoreException.class, e -> org.assertj.core.api.Assertions.assertThat(e.errno())
                        .as(e.getMessage())
                        .isEqualTo(errno));
    }

    static Store.Change change(int mode, Map<String, byte[]> xattrs) {
        return new Store.Change(mode, null, null, xattrs);
    }
}
