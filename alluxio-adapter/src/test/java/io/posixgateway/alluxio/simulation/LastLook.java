package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.simulation.Step.Kind;
import io.posixgateway.alluxio.store.MemoryCluster;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Compares what there is at the end, by each way to look at it. For one thread. */
final class LastLook {
    private final MemoryCluster cluster;
    private final Outsider outside;

    LastLook(MemoryCluster cluster, Outsider outside) {
        this.cluster = cluster;
        this.outside = outside;
    }

    /** The mount shows what others see. */
    void through(int number, Node node) {
        Map<String, String> seen = outside.seen().contents();
        seen.forEach((path, content) -> {
            Step read = new Step(-1, Kind.READ, number, path, "", 0, 0, 0, null, null, null);
            boolean directory = content.equals(Model.IS_DIRECTORY);
            if (directory) {
                checkNames(node, path, seen);
            } else if (!content.equals(Model.INCOMPLETE)) {
                Outcome outcome = new Executor(node).attempt(read);
                if (!outcome.succeeds() || !outcome.content().equals(content)) {
                    throw new Violation("Mount " + number + " reads of " + path + " '" + outcome.content() + "', errno "
                            + outcome.errno() + ", not '" + content + "'");
                }
            }
        });
    }

    private static void checkNames(Node node, String directory, Map<String, String> seen) {
        List<String> expected = seen.keySet().stream()
                .filter(path -> path.startsWith(directory + "/") && path.indexOf('/', directory.length() + 1) < 0)
                .map(path -> path.substring(directory.length() + 1))
                .toList();
        List<String> listed = node.mount().list(directory).stream().sorted().toList();
        if (!listed.equals(expected)) {
            throw new Violation("A mount lists " + directory + " as " + listed + ", not " + expected);
        }
    }

    /** The under file system has what Alluxio shows. */
    void hasContents() {
        for (Map.Entry<String, String> file : outside.seen().contents().entrySet()) {
            byte[] stored = cluster.ufs().read(file.getKey());
            boolean isFile = !file.getValue().equals(Model.IS_DIRECTORY);
            if (isFile
                    && (stored == null || !new String(stored, StandardCharsets.ISO_8859_1).equals(file.getValue()))) {
                throw new Violation("The UFS has another content of " + file.getKey());
            }
        }
    }
}
