package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/** Temporary folders on the disk that holds the build: all others may be in memory, which cannot zero a range of a file. */
public final class DiskFolder implements TempDirFactory {
    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext extension) throws IOException {
        return Files.createTempDirectory(
                Files.createDirectories(Path.of("target")).toAbsolutePath(), "pgw-test-");
    }
}
