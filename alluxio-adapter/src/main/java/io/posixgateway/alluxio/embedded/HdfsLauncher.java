package io.posixgateway.alluxio.embedded;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Inside a child JVM: an HDFS of one name node and one data node, by the cluster that Hadoop's own tests use. */
final class HdfsLauncher {
    /** What {@link ServerLauncher} calls it. */
    static final String ROLE = "hdfs";

    private HdfsLauncher() {}

    /** Starts it in this folder, formatted if that is new, and returns once it runs. */
    static void start(Path folder, int port, int webPort) throws ReflectiveOperationException, IOException {
        Path state = folder.resolve("state");
        boolean fresh = Files.notExists(state);
        Class<?> type = Class.forName("org.apache.hadoop.conf.Configuration");
        Object configuration = type.getConstructor().newInstance();
        Method set = type.getMethod("set", String.class, String.class);
        for (Map.Entry<String, String> each : properties(folder, state).entrySet()) {
            set.invoke(configuration, each.getKey(), each.getValue());
        }
        Class<?> builderType = Class.forName("org.apache.hadoop.hdfs.MiniDFSCluster$Builder");
        Object builder = builderType.getConstructor(type).newInstance(configuration);
        Map<String, Integer> numbers =
                Map.of("nameNodePort", port, "nameNodeHttpPort", webPort, "numDataNodes", 1, "storagesPerDatanode", 1);
        for (Map.Entry<String, Integer> each : numbers.entrySet()) {
            builderType.getMethod(each.getKey(), int.class).invoke(builder, each.getValue());
        }
        builderType.getMethod("format", boolean.class).invoke(builder, fresh);
        Object cluster = builderType.getMethod("build").invoke(builder);
        cluster.getClass().getMethod("waitActive").invoke(cluster);
    }

    /**
     * One data node has one replica; nothing survives a power failure, or needs to. Who closes a file asks again soon whether the name
     * node has heard of its last block, instead of after 400 ms.
     */
    private static Map<String, String> properties(Path folder, Path state) {
        return Map.of(
                "dfs.client.block.write.locateFollowingBlock.initial.delay.ms",
                "10",
                "hdfs.minidfs.basedir",
                state.toString(),
                "hadoop.tmp.dir",
                folder.resolve("tmp").toString(),
                "dfs.replication",
                "1",
                "dfs.namenode.edits.noeditlogchannelflush",
                "true",
                "dfs.namenode.safemode.extension",
                "0");
    }
}
