package io.posixgateway.alluxio.client;

import alluxio.conf.Configuration;
import alluxio.conf.InstancedConfiguration;
import alluxio.conf.PropertyKey;
import alluxio.conf.Source;
import java.util.HashMap;
import java.util.Map;

/**
 * For tests that wait until Alluxio's client gives up on a server that was killed: in this JVM it does after a second, instead of
 * ten, until this is closed. Mounts have to be opened afterwards.
 */
public final class ShortTimeouts implements AutoCloseable {
    /** Those of {@link ClientProperties} that say how long calls to servers which refuse connections are repeated. */
    private static final Map<String, String> SHORT = Map.of(
            "alluxio.user.rpc.retry.max.duration", "1sec",
            "alluxio.user.block.read.retry.max.duration", "1sec",
            "alluxio.user.file.write.init.max.duration", "1sec");

    private final InstancedConfiguration global = Configuration.modifiableGlobal();
    private final Map<PropertyKey, Object> before = new HashMap<>();

    public ShortTimeouts() {
        SHORT.forEach((name, value) -> {
            PropertyKey key = PropertyKey.fromString(name);
            if (global.isSetByUser(key)) {
                before.put(key, global.get(key));
            }
            global.set(key, key.parseValue(value), Source.RUNTIME);
        });
    }

    /** The same for a JVM that is to be started. */
    public static String javaOptions() {
        StringBuilder options = new StringBuilder();
        SHORT.forEach(
                (name, value) -> options.append(" -D").append(name).append('=').append(value));
        return options.substring(1);
    }

    @Override
    public void close() {
        SHORT.keySet().forEach(name -> global.unset(PropertyKey.fromString(name)));
        before.forEach((key, value) -> global.set(key, value, Source.RUNTIME));
    }
}
