package io.posixgateway.alluxio.client;

import alluxio.grpc.GrpcChannelPool;
import java.lang.reflect.Field;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The table of connections of Alluxio's client. The client waits for a connection inside {@code compute}, which locks the
 * key's bin: while one server does not answer, whoever wants a connection to another one that falls into the same bin waits,
 * too, for seconds. A few hundred connections in a table of this size do not meet.
 */
final class ChannelTable {
    private static final int ROOM = 1 << 16;
    private static boolean made;

    private ChannelTable() {}

    /**
     * Once for the process, before the first connection and after {@link ClientProperties} has set what Alluxio's class reads
     * when it is loaded. Where that class is another, all stays as it is.
     */
    static synchronized void makeRoom() {
        if (made) {
            return;
        }
        made = true;
        try {
            Field table = GrpcChannelPool.class.getDeclaredField("mChannels");
            table.setAccessible(true);
            if (table.get(GrpcChannelPool.INSTANCE) instanceof ConcurrentMap<?, ?> channels && channels.isEmpty()) {
                table.set(GrpcChannelPool.INSTANCE, new ConcurrentHashMap<>(ROOM));
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            org.slf4j.LoggerFactory.getLogger(ChannelTable.class)
                    .debug("Alluxio's connection table is not adjusted: {}", e.toString());
        }
    }
}
