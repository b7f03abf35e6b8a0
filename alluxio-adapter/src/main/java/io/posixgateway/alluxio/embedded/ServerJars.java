package io.posixgateway.alluxio.embedded;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Finds the jars of Alluxio's servers, and the place of our own classes. */
final class ServerJars {
    /** System property that names the folder of the jars. */
    static final String PROPERTY = "posixgateway.alluxio.lib";

    private static final String BUILD_PATH = "alluxio-adapter/alluxio-server/target/lib";

    private ServerJars() {}

    /** The folder of the jars: by the property, or in the build tree around our classes or the working folder. */
    static Path folder() throws IOException {
        String given = System.getProperty(PROPERTY);
        if (given != null) {
            return checked(Path.of(given));
        }
        Path found = inTreeAbove(ownClasses());
        if (found == null) {
            found = inTreeAbove(Path.of("").toAbsolutePath());
        }
        if (found == null) {
            throw new IOException(
                    "The jars of Alluxio's servers are not there. Build them with `make build`, or name their"
                            + " folder by -D" + PROPERTY + "=FOLDER.");
        }
        return found;
    }

    private static Path checked(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new IOException("No such folder: " + folder + " (from -D" + PROPERTY + ")");
        }
        return folder;
    }

    private static @Nullable Path inTreeAbove(Path start) {
        for (Path at = start; at != null; at = at.getParent()) {
            Path lib = at.resolve(BUILD_PATH);
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
