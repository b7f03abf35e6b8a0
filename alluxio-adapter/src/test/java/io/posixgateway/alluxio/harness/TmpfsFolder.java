package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/** Temporary folders in memory: where tests run in a container, all others may be on an overlay. */
public final class TmpfsFolder implements TempDirFactory {
    private static final Path TMPFS = Path.of("/dev/shm");

    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext extension) throws IOException {
        return Files.isWritable(TMPFS)
                ? Files.createTempDirectory(TMPFS, "pgw-test-")
                : Files.createTempDirectory("pgw-test-");
    }
}
