package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.client.FileSink;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.store.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;

/** Another client of Alluxio. Any thread. */
final class Outsider {
    private final MemoryStore store;

    Outsider(MemoryStore store) {
        this.store = store;
    }

    /** A new file. */
    void write(String path, String content) throws StoreException {
        byte[] bytes = content.getBytes(StandardCharsets.ISO_8859_1);
        FileSink sink = store.create(path, 0644, Map.of(), UUID.randomUUID());
        sink.write(bytes, 0, bytes.length);
        sink.complete();
    }
}
