package io.posixgateway.fuse.jni;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** Finds libpgw.so for this machine on the class path and loads it, once. Any thread. */
public final class NativeLoader {
    private static final @Nullable String CAUSE = load();

    private NativeLoader() {}

    /** Is the native library loaded? */
    public static boolean isAvailable() {
        return CAUSE == null;
    }

    /** Why the library could not be loaded, or null when it was. */
    public static @Nullable String unavailabilityCause() {
        return CAUSE;
    }

    /** Throws when the library could not be loaded. */
    static void ensureAvailable() {
        if (CAUSE != null) {
            throw new UnsatisfiedLinkError("libpgw.so could not be loaded: " + CAUSE);
        }
    }

    /**
     * Copies a native file out of the jar.
     *
     * @return a new executable file that the caller deletes
     * @throws IOException with advice when there is none for this machine, or the folder cannot be written
     */
    public static Path extract(String name) throws IOException {
        String resource = "/native/linux-" + architecture() + "/" + name;
        try (InputStream in = NativeLoader.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IOException(
                        "this build does not include " + resource + "; build fuse-core for this architecture");
            }
            Path file = Files.createTempFile(
                    "pgw-",
                    "-" + name,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
            return file;
        }
    }

    private static String architecture() {
        String name = System.getProperty("os.arch", "");
        return name.equals("amd64") ? "x86_64" : name;
    }

    private static @Nullable String load() {
        try {
            Path file = extract("libpgw.so");
            try {
                System.load(file.toString());
            } finally {
                Files.deleteIfExists(file);
            }
            return null;
        } catch (IOException | LinkageError e) {
            return String.valueOf(e.getMessage());
        }
    }
}
