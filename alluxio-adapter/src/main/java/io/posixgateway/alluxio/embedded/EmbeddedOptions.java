package io.posixgateway.alluxio.embedded;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an {@link EmbeddedAlluxio} is made of.
 *
 * @param folder where journal, blocks, UFS and logs go, kept at the end; null: a temporary one, removed at the end
 * @param masters how many masters; several elect a leader by an embedded journal
 * @param workers how many workers; the first has the host name 127.0.0.1, the next 127.0.0.2 and so on, so that to a client
 *     named 127.0.0.1 only the first is local
 * @param workerBytes memory (a folder in truth) of each worker
 * @param blockStore where the workers' blocks go, such as a tmpfs; null: below the folder
 * @param storageFolders in how many folders each worker keeps its blocks, as on so many disks
 * @param properties Alluxio properties for master and workers, over those that are set anyway
 * @param underStore what Alluxio's root stands on
 * @param jvmOptions of master and workers, over those that are set anyway: a small heap and quick starts
 */
public record EmbeddedOptions(
        @Nullable Path folder,
        int masters,
        int workers,
        long workerBytes,
        @Nullable Path blockStore,
        int storageFolders,
        Map<String, String> properties,
        UnderStore underStore,
        List<String> jvmOptions) {

    /** The kinds of under file systems (UFS) that can be had. */
    public enum UnderStore {
        /** A folder. */
        LOCAL,
        /** A bucket of an {@link S3Server}. */
        S3,
        /** An {@link HdfsServer}. */
        HDFS
    }

    /** One worker of 1 GiB in a temporary folder. */
    public static EmbeddedOptions defaults() {
        return new EmbeddedOptions(null, 1, 1, 1L << 30, null, 1, Map.of(), UnderStore.LOCAL, List.of());
    }

    /** The same with another folder, which is kept. */
    public EmbeddedOptions inFolder(Path path) {
        return new EmbeddedOptions(
                path, masters, workers, workerBytes, blockStore, storageFolders, properties, underStore, jvmOptions);
    }

    /** The same with this many masters. */
    public EmbeddedOptions withMasters(int count) {
        return new EmbeddedOptions(
                folder, count, workers, workerBytes, blockStore, storageFolders, properties, underStore, jvmOptions);
    }

    /** The same with this many workers of this size. */
    public EmbeddedOptions withWorkers(int count, long bytes) {
        return new EmbeddedOptions(
                folder, masters, count, bytes, blockStore, storageFolders, properties, underStore, jvmOptions);
    }

    /** The same with the blocks in this folder. */
    public EmbeddedOptions withBlockStore(Path store) {
        return new EmbeddedOptions(
                folder, masters, workers, workerBytes, store, storageFolders, properties, underStore, jvmOptions);
    }

    /** The same with workers that each keep their blocks in so many folders, which share its size. */
    public EmbeddedOptions withStorageFolders(int count) {
        return new EmbeddedOptions(
                folder, masters, workers, workerBytes, blockStore, count, properties, underStore, jvmOptions);
    }

    /** The same with these properties. */
    public EmbeddedOptions withProperties(Map<String, String> given) {
        return new EmbeddedOptions(
                folder, masters, workers, workerBytes, blockStore, storageFolders, given, underStore, jvmOptions);
    }

    /** The same on such an under file system. */
    public EmbeddedOptions on(UnderStore kind) {
        return new EmbeddedOptions(
                folder, masters, workers, workerBytes, blockStore, storageFolders, properties, kind, jvmOptions);
    }

    /** The same with these options of the servers' JVMs. */
    public EmbeddedOptions withJvmOptions(List<String> options) {
        return new EmbeddedOptions(
                folder, masters, workers, workerBytes, blockStore, storageFolders, properties, underStore, options);
    }
}
