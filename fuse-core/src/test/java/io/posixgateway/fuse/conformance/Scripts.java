package io.posixgateway.fuse.conformance;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The Python programs of these tests, unpacked from the jar into a temporary folder. */
final class Scripts implements AutoCloseable {
    private static final List<String> NAMES = List.of(
            "suite.py",
            "cases_names.py",
            "cases_data.py",
            "cases_attributes.py",
            "every_operation.py",
            "stress.py",
            "coherence.py",
            "follow.py",
            "overlap.py");

    private final Path folder;

    Scripts() throws IOException {
        folder = Files.createTempDirectory("posix-gateway-scripts");
        for (String name : NAMES) {
            try (InputStream in = Scripts.class.getResourceAsStream("/conformance/" + name)) {
                if (in == null) {
                    throw new IOException("/conformance/" + name + " is not on the class path");
                }
                Files.copy(in, folder.resolve(name));
            }
        }
    }

    String path(String name) {
        return folder.resolve(name).toString();
    }

    @Override
    public void close() throws IOException {
        for (String name : NAMES) {
            Files.deleteIfExists(folder.resolve(name));
        }
        Files.delete(folder);
    }
}
