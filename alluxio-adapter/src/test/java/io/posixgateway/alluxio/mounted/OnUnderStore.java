package io.posixgateway.alluxio.mounted;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A mount of a folder of its own of an Alluxio on one kind of under file system, and another client of that Alluxio. */
abstract class OnUnderStore {
    private static final AtomicInteger FOLDERS = new AtomicInteger();

    EmbeddedAlluxio alluxio;
    Store other;
    String folder;
    MountedFileSystem mounted;
    Path root;

    /** Skips the test where there is none. */
    abstract EmbeddedAlluxio cluster() throws Exception;

    @BeforeEach
    void mount() throws Exception {
        alluxio = cluster();
        folder = "under-store-" + FOLDERS.incrementAndGet();
        other = AlluxioMount.connect(at("/"), SharedAlluxio.options(Map.of()));
        other.makeDirectory("/" + folder, 0777, Map.of());
        mounted = MountedFileSystem.mount(open(at("/" + folder)), TransportChoice.AUTO);
        root = mounted.root();
    }

    /** As it is to be mounted. */
    AlluxioFileSystem open(AlluxioOptions place) throws Exception {
        return AlluxioMount.open(place, SharedAlluxio.options(Map.of()));
    }

    @AfterEach
    void unmount() throws Exception {
        if (mounted != null) {
            mounted.close();
            other.close();
        }
    }

    AlluxioOptions at(String path) {
        return AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + path);
    }

    /** What the under file system itself has. */
    String stored(String name) throws IOException {
        byte[] content = alluxio.underStore().get(folder + "/" + name);
        return content == null ? "(none)" : new String(content, UTF_8);
    }

    static void note(Path file, String value) throws IOException {
        view(file).write("user.note", UTF_8.encode(value));
    }

    static String noteOf(Path file) throws IOException {
        ByteBuffer value = ByteBuffer.allocate(100);
        view(file).read("user.note", value);
        return UTF_8.decode(value.flip()).toString();
    }

    private static UserDefinedFileAttributeView view(Path file) {
        return Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
    }
}
