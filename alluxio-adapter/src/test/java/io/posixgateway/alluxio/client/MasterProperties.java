package io.posixgateway.alluxio.client;

import alluxio.ClientContext;
import alluxio.client.meta.RetryHandlingMetaMasterConfigClient;
import alluxio.conf.PropertyKey;
import alluxio.master.MasterClientContext;
import io.posixgateway.alluxio.store.StoreOptions;
import java.io.IOException;
import java.util.Map;

/** Changes properties of a running master, which has to have {@code alluxio.conf.dynamic.update.enabled}. */
public final class MasterProperties {
    private MasterProperties() {}

    /** Sets one; it holds until the master ends. */
    public static void set(String masters, String name, String value) throws IOException {
        StoreOptions options = new StoreOptions(masters, "", "CACHE_THROUGH", true, Map.of());
        PropertyKey key = PropertyKey.fromString(name);
        try (RetryHandlingMetaMasterConfigClient client = new RetryHandlingMetaMasterConfigClient(
                MasterClientContext.newBuilder(ClientContext.create(ClientProperties.of(options)))
                        .build())) {
            if (!Boolean.TRUE.equals(
                    client.updateConfiguration(Map.of(key, value)).get(key))) {
                throw new IOException("the master does not take " + name + "=" + value);
            }
        }
    }
}
