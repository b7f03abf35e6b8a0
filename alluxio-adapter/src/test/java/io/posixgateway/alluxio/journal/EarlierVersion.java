package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.nio.file.Path;

/** What a version before the journal leaves in a volume's folder. */
public final class EarlierVersion {
    private EarlierVersion() {}

    /** One has served the volume. */
    public static void served(Path folder) throws IOException {
        BackingFileLog.open(folder.resolve("passthrough")).close();
    }
}
