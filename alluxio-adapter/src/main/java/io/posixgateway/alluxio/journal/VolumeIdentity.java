package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Which Alluxio, and which place in it, the records of a volume are of. File ids begin anew after a format and on another
 * cluster, so a record of one means nothing in the other. Any thread.
 *
 * @param clusterId of the Alluxio; empty: it did not say
 * @param masters where it was reached, which may change
 * @param root the path that is mounted
 */
public record VolumeIdentity(String clusterId, String masters, String root) {
    private static final String CLUSTER = "cluster";
    private static final String MASTERS = "masters";
    private static final String ROOT = "root";

    /** Null: there is none, as of volumes of an earlier version, or it cannot be read. */
    static @Nullable VolumeIdentity read(Path file) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException missing) {
            return null;
        }
        String root = properties.getProperty(ROOT, "");
        return root.isEmpty()
                ? null
                : new VolumeIdentity(properties.getProperty(CLUSTER, ""), properties.getProperty(MASTERS, ""), root);
    }

    void write(Path file) throws IOException {
        Properties properties = new Properties();
        properties.setProperty(CLUSTER, clusterId);
        properties.setProperty(MASTERS, masters);
        properties.setProperty(ROOT, root);
        StringWriter text = new StringWriter();
        properties.store(text, "The Alluxio cluster and path to which the records beside this file belong");
        Files.writeString(file, text.toString());
    }

    /** Null: what was recorded as this is of that, too; else why not, in half a sentence that follows "because". */
    public @Nullable String difference(VolumeIdentity now) {
        if (!clusterId.isEmpty() && !now.clusterId.isEmpty() && !clusterId.equals(now.clusterId)) {
            return "it belongs to another Alluxio cluster, or to this one before it was formatted (" + masters + ","
                    + " cluster "
                    + clusterId + "; now it is " + now.masters + ", cluster " + now.clusterId + ")";
        }
        return root.equals(now.root)
                ? null
                : "it belongs to a mount of Alluxio path " + root + "; now " + now.root + " is mounted";
    }
}
