package io.posixgateway.alluxio.harness;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where the programs lie that {@code make build} makes; a test that needs one that is not there is skipped with a reason. */
public final class Built {
    private Built() {}

    /** The launcher of the command. */
    public static Path gateway() {
        return needed("alluxio-adapter/target/dist/bin/posix-gateway");
    }

    public static Path keeper() {
        return needed("csi/bin/posix-gateway-keeper");
    }

    private static Path needed(String name) {
        Path file = root().resolve(name);
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
