package io.posixgateway.alluxio.mounted;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** Mounts of the cluster with one worker that all tests of this JVM share. */
final class SharedAlluxio {
    private static final AtomicInteger FOLDERS = new AtomicInteger();

    private SharedAlluxio() {}

    static EmbeddedAlluxio running() {
        try {
            return Clusters.oneWorker();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** A new, empty directory of Alluxio. */
    static String folder() throws StoreException {
        String path = "/test-" + FOLDERS.incrementAndGet();
        try (Store store = AlluxioMount.connect(at("/"), options(Map.of()))) {
            store.makeDirectory(path, 0777, Map.of());
        }
        return path;
    }

    /** The same directory as a folder of the UFS. */
    static Path ufs(String path) {
        return running().ufs().resolve(path.substring(1));
    }

    static AlluxioFileSystem open(String path, Map<String, String> options) throws StoreException {
        return AlluxioMount.open(at(path), options(options));
    }

    /** The same with another clock. */
    static AlluxioFileSystem open(String path, Map<String, String> options, Clock clock) throws StoreException {
        return AlluxioMount.open(at(path), options(options), clock);
    }

    static AlluxioOptions at(String path) {
        return AlluxioOptions.ofUri("alluxio://" + running().masters() + path);
    }

    /** Options as on the command line, and a spool folder of this test run. */
    static AdapterOptions options(Map<String, String> given) {
        Map<String, String> all = new HashMap<>(given);
        all.putIfAbsent("spool", spool().toString());
        return AdapterOptions.of(AdapterOptions.TABLE.read(all));
    }

    static boolean isSpoolEmpty() throws IOException {
        try (Stream<Path> files = Files.list(spool())) {
            return files.noneMatch(file -> file.getFileName().toString().startsWith("spool-"));
        }
    }

    private static Path spool() {
        try {
            return Files.createDirectories(running().ufs().resolveSibling("spool"));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
