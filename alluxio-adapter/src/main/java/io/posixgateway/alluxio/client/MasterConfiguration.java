package io.posixgateway.alluxio.client;

import alluxio.client.file.FileSystemContext;
import alluxio.client.meta.RetryHandlingMetaMasterConfigClient;
import alluxio.grpc.GetConfigurationPOptions;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The properties of the cluster as its master has them; a client's own may lack those of servers. */
final class MasterConfiguration {
    private MasterConfiguration() {}

    /** By name. Waits for the master. */
    static Map<String, String> of(FileSystemContext context) throws IOException {
        Map<String, String> properties = new LinkedHashMap<>();
        try (RetryHandlingMetaMasterConfigClient master =
                new RetryHandlingMetaMasterConfigClient(context.getMasterClientContext())) {
            master.getConfiguration(GetConfigurationPOptions.getDefaultInstance())
                    .getClusterConf()
                    .forEach(property -> properties.put(property.getName(), String.valueOf(property.getValue())));
        }
        return properties;
    }
}
