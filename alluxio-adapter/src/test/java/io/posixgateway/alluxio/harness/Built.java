package io.posixgateway.alluxio.harness;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where the programs lie that {@code make build} makes; a test that needs one that is not there is skipped with a reason. */
public final class Built {
    private static final String GATEWAY = "alluxio-adapter/target/dist/bin/posix-gateway";
    private static final String KEEPER = "csi/bin/posix-gateway-keeper";

    private Built() {}

    /** The launcher of the command. */
    public static Path gateway() {
        return needed(root(), GATEWAY);
    }

    public static Path keeper() {
        return needed(root(), KEEPER);
    }

    /** The launcher of another built tree: of an earlier version, for instance. */
    static Path gateway(Path tree) {
        return needed(tree, GATEWAY);
    }

    static Path keeper(Path tree) {
        return needed(tree, KEEPER);
    }

    private static Path needed(Path tree, String name) {
        Path file = tree.resolve(name);
        boolean there = Files.isExecutable(file);
        if (!there) {
            System.out.println("SKIPPED: " + file + " is not built; make build makes it");
        }
        assumeTrue(there, file + " is not built; make build makes it");
        return file;
    }

    /** The repository: the folder above that holds the Makefile. */
    public static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (folder != null && !Files.exists(folder.resolve("Makefile"))) {
            folder = folder.getParent();
        }
        if (folder == null) {
            throw new IllegalStateException("no Makefile above " + Path.of("").toAbsolutePath());
        }
        return folder;
    }

    /** Does this process run as root? */
    public static boolean isRoot() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
    }
}
