package io.posixgateway.alluxio.client;

import alluxio.client.block.BlockWorkerInfo;
import alluxio.client.file.FileSystemContext;
import io.posixgateway.alluxio.store.StoreOptions;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import javax.security.auth.Subject;

/** Where clients are told that the workers of an Alluxio listen. */
public final class WorkerPorts {
    private WorkerPorts() {}

    /** Ports by host. */
    public static Map<String, Integer> of(String masters) throws IOException {
        StoreOptions options = new StoreOptions(masters, "", "CACHE_THROUGH", true, Map.of());
        try (FileSystemContext context = FileSystemContext.create(new Subject(), ClientProperties.of(options))) {
            Map<String, Integer> ports = new TreeMap<>();
            for (BlockWorkerInfo worker : context.getCachedWorkers()) {
                ports.put(
                        worker.getNetAddress().getHost(), worker.getNetAddress().getRpcPort());
            }
            return ports;
        }
    }
}
