package io.posixgateway.alluxio.store;

import java.util.Map;

/**
 * Which Alluxio, as whom, and how.
 *
 * @param masters "host:port[,host:port…]"; empty: as alluxio-site.properties says
 * @param user the user in Alluxio; empty: the one this process runs as
 * @param writeType of {@code alluxio.client.WriteType}
 * @param shortCircuit may blocks of a local worker be read as files?
 * @param properties client properties, over all others; masters, user, type of writing and short circuit are as said above whatever these say
 */
public record StoreOptions(
        String masters, String user, String writeType, boolean shortCircuit, Map<String, String> properties) {}
