package io.posixgateway.alluxio.service;

import io.posixgateway.alluxio.client.AlluxioStore;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.client.StoreOptions;
import io.posixgateway.fuse.session.FuseSession;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads what the first requests of a session will need, before they come: our own classes, and those of Alluxio's client by a
 * call to an address where nobody listens. For a process that waits for its turn, and for the class-data archive. Has no
 * effect that anybody could see, and takes seconds.
 */
public final class Rehearsal {
    private static final Logger LOG = LoggerFactory.getLogger(Rehearsal.class);
    private static final String OURS = "io/posixgateway/";
    private static final String CLASS = ".class";
    private static final String NOBODY = "127.0.0.1:1";

    private Rehearsal() {}

    /** What fails here will fail again where it matters, and is said there. */
    public static void run() {
        List.of(FuseSession.class, Rehearsal.class).forEach(Rehearsal::load);
        callNobody();
    }

    /** All classes of the jar that this one is in. */
    private static void load(Class<?> member) {
        try {
            Path jar = Path.of(
                    member.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isRegularFile(jar)) {
                try (JarFile file = new JarFile(jar.toFile())) {
                    file.stream().map(Object::toString).forEach(Rehearsal::load);
                }
            }
        } catch (IOException | URISyntaxException e) {
            LOG.debug("Classes are loaded when they are needed", e);
        }
    }

    private static void load(String entry) {
        if (!entry.startsWith(OURS) || !entry.endsWith(CLASS)) {
            return;
        }
        String name = entry.substring(0, entry.length() - CLASS.length()).replace('/', '.');
        try {
            Class.forName(name, false, Rehearsal.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            LOG.debug("Class {} is loaded when it is needed", name, e);
        }
    }

    private static void callNobody() {
        try (Store store = AlluxioStore.open(new StoreOptions(NOBODY, "", "CACHE_THROUGH", true, Map.of()))) {
            store.status("/");
        } catch (StoreException e) {
            LOG.debug("Nobody answered, as was to be expected", e);
        }
    }
}
