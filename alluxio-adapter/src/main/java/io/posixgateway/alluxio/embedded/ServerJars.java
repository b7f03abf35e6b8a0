package io.posixgateway.alluxio.embedded;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Finds the jars of Alluxio's servers and of HDFS, and the place of our own classes. */
final class ServerJars {
    /** System property that names the folder of the jars. */
    static final String PROPERTY = "posixgateway.alluxio.lib";
    /** The same of HDFS: {@code client} and {@code server} in it. */
    static final String HDFS_PROPERTY = "posixgateway.hdfs.lib";

    private static final String BUILD_PATH = "alluxio-adapter/alluxio-server/target/lib";
    private static final String HDFS_BUILD_PATH = "alluxio-adapter/hdfs-server/target/lib";

    private ServerJars() {}

    /** The folder of the jars: by the property, or in the build tree around our classes or the working folder. */
    static Path folder() throws IOException {
        return found(PROPERTY, BUILD_PATH, "The jars of Alluxio's servers are not there. Build them with `make build`");
    }

    /** The same of HDFS. */
    static Path ofHdfs() throws IOException {
        return found(
                HDFS_PROPERTY,
                HDFS_BUILD_PATH,
                "The jars of HDFS are not there. Fetch them with `make setup-hdfs` (once)");
    }

    static boolean hasHdfs() {
        try {
            return Files.isDirectory(ofHdfs());
        } catch (IOException e) {
            return false;
        }
    }

    private static Path found(String property, String buildPath, String missing) throws IOException {
        String given = System.getProperty(property);
        if (given != null) {
            return checked(property, Path.of(given));
        }
        Path found = inTreeAbove(ownClasses(), buildPath);
        if (found == null) {
            found = inTreeAbove(Path.of("").toAbsolutePath(), buildPath);
        }
        if (found == null) {
            throw new IOException(missing + ", or name their folder by -D" + property + "=FOLDER.");
        }
        return found;
    }

    private static Path checked(String property, Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new IOException("No such folder: " + folder + " (from -D" + property + ")");
        }
        return folder;
    }

    private static @Nullable Path inTreeAbove(Path start, String buildPath) {
        for (Path at = start; at != null; at = at.getParent()) {
            Path lib = at.resolve(buildPath);
            if (Files.isDirectory(lib)) {
                return lib;
            }
        }
        return null;
    }

    /** The folder or jar that {@link ServerLauncher} was loaded from. */
    static Path ownClasses() throws IOException {
        try {
            return Path.of(ServerLauncher.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IOException("Cannot find our own classes", e);
        }
    }
}
