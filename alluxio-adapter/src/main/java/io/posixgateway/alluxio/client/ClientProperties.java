package io.posixgateway.alluxio.client;

import alluxio.conf.AlluxioProperties;
import alluxio.conf.Configuration;
import alluxio.conf.InstancedConfiguration;
import alluxio.conf.PropertyKey;
import alluxio.conf.Source;
import alluxio.util.ConfigurationUtils;
import io.posixgateway.alluxio.store.StoreOptions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The client configuration of one volume: alluxio-site.properties, what a mount needs, what its options say. */
final class ClientProperties {
    /**
     * How long calls are repeated while a server is away. Of several masters another becomes the leader meanwhile, and learns of a worker
     * when that has found out that the former one is gone: after a minute, if its connection still stands.
     */
    private static final Set<String> RETRIES = Set.of(
            "alluxio.user.rpc.retry.max.duration",
            "alluxio.user.block.read.retry.max.duration",
            "alluxio.user.file.write.init.max.duration");

    private static final String RETRIES_OF_SEVERAL_MASTERS = "2min";

    /**
     * Alluxio's own defaults wait for minutes and hours, which a program that reads a file cannot. They hold unless the site
     * file or the volume says otherwise.
     */
    private static final Map<String, String> MOUNT_DEFAULTS = Map.ofEntries(
            Map.entry("alluxio.user.rpc.retry.max.duration", "8sec"),
            Map.entry("alluxio.user.rpc.retry.base.sleep", "50ms"),
            Map.entry("alluxio.user.rpc.retry.max.sleep", "500ms"),
            // One master is asked after another, and one whose host is gone says nothing.
            Map.entry("alluxio.user.master.polling.timeout", "2sec"),
            Map.entry("alluxio.network.connection.auth.timeout", "5sec"),
            Map.entry("alluxio.network.connection.health.check.timeout", "2sec"),
            Map.entry("alluxio.network.connection.shutdown.graceful.timeout", "1sec"),
            Map.entry("alluxio.network.connection.shutdown.timeout", "1sec"),
            Map.entry("alluxio.user.block.read.retry.max.duration", "10sec"),
            Map.entry("alluxio.user.file.write.init.max.duration", "8sec"),
            Map.entry("alluxio.user.streaming.data.read.timeout", "20sec"),
            Map.entry("alluxio.user.streaming.data.write.timeout", "30sec"),
            // A worker may upload all of an object then; whether it lives WorkerHealth finds out, and whether the
            // connection does, this.
            Map.entry("alluxio.user.streaming.writer.close.timeout", "24h"),
            Map.entry("alluxio.user.network.streaming.keepalive.time", "1min"),
            Map.entry("alluxio.user.streaming.writer.flush.timeout", "30sec"),
            Map.entry("alluxio.user.network.rpc.netty.worker.threads", Integer.toString(rpcThreads())),
            Map.entry("alluxio.user.network.streaming.netty.worker.threads", Integer.toString(streamingThreads())),
            Map.entry("alluxio.user.worker.list.refresh.interval", "2sec"),
            Map.entry("alluxio.user.metrics.collection.enabled", "false"),
            Map.entry("alluxio.user.update.file.accesstime.disabled", "true"));

    /**
     * The caches of Alluxio's own client, which would stand behind ours and know nothing of its rules; off whatever the site
     * file says, since people bring one that was made for AlluxioFuse.
     */
    private static final Map<String, String> CACHES_OFF =
            Map.of("alluxio.user.metadata.cache.enabled", "false", "alluxio.user.client.cache.enabled", "false");

    /** Whatever says where masters are: masters that are given stand in place of all of it, in whichever way it says so. */
    private static final Set<String> PLACES = Set.of(
            "alluxio.master.hostname",
            "alluxio.master.rpc.port",
            "alluxio.master.rpc.addresses",
            "alluxio.master.embedded.journal.addresses",
            "alluxio.zookeeper.enabled",
            "alluxio.zookeeper.address");

    private static final int FEW_CPUS = 2;

    private ClientProperties() {}

    /** Alluxio's own default is two for each CPU, of which a machine may have a hundred. */
    static int streamingThreads() {
        return Math.max(2, Math.min(8, Runtime.getRuntime().availableProcessors()));
    }

    /** Event loops for calls, whose messages are short: one serves two CPUs. */
    private static int rpcThreads() {
        return Runtime.getRuntime().availableProcessors() <= FEW_CPUS ? 1 : 2;
    }

    static InstancedConfiguration of(StoreOptions options) {
        InstancedConfiguration configuration = new InstancedConfiguration(withMountDefaults());
        Map<String, String> own = new LinkedHashMap<>(options.properties());
        if (!options.masters().isEmpty()) {
            PLACES.forEach(name -> {
                own.remove(name);
                configuration.unset(PropertyKey.fromString(name));
            });
            masters(options.masters(), own);
        }
        if (!options.user().isEmpty()) {
            own.put("alluxio.security.login.username", options.user());
        }
        own.put("alluxio.user.file.writetype.default", options.writeType());
        own.put("alluxio.user.short.circuit.enabled", Boolean.toString(options.shortCircuit()));
        own.putAll(CACHES_OFF);
        own.forEach((name, value) -> set(configuration, PropertyKey.fromString(name), value));
        if (ConfigurationUtils.isHaMode(configuration)) {
            RETRIES.stream()
                    .filter(name -> !own.containsKey(name))
                    .map(PropertyKey::fromString)
                    .filter(key -> Source.RUNTIME.equals(configuration.getSource(key))) // not the site file's
                    .forEach(key -> set(configuration, key, RETRIES_OF_SEVERAL_MASTERS));
        }
        return configuration;
    }

    /** Sets the defaults for the whole process, because Alluxio's retries look nowhere else; then copies all properties. */
    private static synchronized AlluxioProperties withMountDefaults() {
        InstancedConfiguration global = Configuration.modifiableGlobal();
        MOUNT_DEFAULTS.forEach((name, value) -> {
            PropertyKey key = PropertyKey.fromString(name);
            if (!global.isSetByUser(key)) {
                set(global, key, value);
            }
        });
        return Configuration.copyProperties();
    }

    private static void set(InstancedConfiguration configuration, PropertyKey key, String value) {
        configuration.set(key, key.parseValue(value), Source.RUNTIME);
    }

    private static void masters(String masters, Map<String, String> own) {
        if (masters.contains(",")) {
            own.put("alluxio.master.rpc.addresses", masters);
            return;
        }
        int colon = masters.lastIndexOf(':');
        own.put("alluxio.master.hostname", colon < 0 ? masters : masters.substring(0, colon));
        if (colon >= 0) {
            own.put("alluxio.master.rpc.port", masters.substring(colon + 1));
        }
    }
}
