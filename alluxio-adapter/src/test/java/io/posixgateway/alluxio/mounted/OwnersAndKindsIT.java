package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whose files are and of what kind, as another mount sees it that has never heard of them. */
class OwnersAndKindsIT {
    private static final int SECONDS = 30;
    private static final FileTime TIME = FileTime.from(Instant.ofEpochSecond(1_234_567_890, 123_456_789));

    private static Map<String, Object> seen(Path path) throws IOException {
        Map<String, Object> seen =
                new TreeMap<>(Files.readAttributes(path, "unix:mode,uid,gid,rdev,size", LinkOption.NOFOLLOW_LINKS));
        seen.put("modified", Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS));
        return seen;
    }

    /** Without opening it, which a fifo does not end. */
    private static void touch(Path path) throws Exception {
        Command.run(SECONDS, "touch", "-d", TIME.toString(), path.toString());
    }

    private static int permissions(@Nullable Map<String, Object> seen) {
        return seen != null && seen.get("mode") instanceof Integer mode ? mode & 07777 : -1;
    }

    private static void make(Path root) throws Exception {
        Command.run(SECONDS, "mkfifo", root.resolve("fifo").toString());
        Command.run(SECONDS, "mknod", root.resolve("device").toString(), "c", "1", "3");
        Files.writeString(root.resolve("special"), "special");
        Files.createDirectory(root.resolve("sticky"));
        Files.createSymbolicLink(root.resolve("link"), Path.of("special"));
        for (String name : new String[] {"fifo", "device", "special", "sticky"}) {
            Path path = root.resolve(name);
            Files.setAttribute(path, "unix:uid", 1234);
            Files.setAttribute(path, "unix:gid", 5678);
            touch(path);
        }
        Files.setAttribute(root.resolve("special"), "unix:mode", 06751);
        Files.setAttribute(root.resolve("sticky"), "unix:mode", 01777);
        touch(root.resolve("sticky"));
    }

    @Test
    void whatAlluxioHasNoPlaceForOutlivesTheMount() throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, Map<String, Object>> before = new TreeMap<>();
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            make(mounted.root());
            try (Stream<Path> all = Files.list(mounted.root())) {
                for (Path path : all.toList()) {
                    before.put(path.getFileName().toString(), seen(path));
                }
            }
        }
        assertThat(before).hasSize(5);
        assertThat(before.get("special"))
                .containsEntry("uid", 1234)
                .containsEntry("gid", 5678)
                .containsEntry("modified", TIME);
        assertThat(permissions(before.get("special"))).isEqualTo(06751);
        assertThat(before.get("device")).containsEntry("rdev", 0x103L);
        try (MountedFileSystem anew =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            for (String name : before.keySet()) {
                assertThat(seen(anew.root().resolve(name))).as(name).isEqualTo(before.get(name));
            }
            assertThat(Files.readSymbolicLink(anew.root().resolve("link"))).hasToString("special");
        }
    }

    @Test
    void aMountShowsTheOwnerAndThePermissionsThatItWasTold() throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, String> options = Map.of("uid", "1234", "gid", "5678", "umask", "027");
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO)) {
            Path file = Files.writeString(mounted.root().resolve("f"), "content");
            Files.setAttribute(file, "unix:mode", 0777);
            Files.writeString(SharedAlluxio.ufs(folder).resolve("others"), "content");
            for (String name : new String[] {"f", "others"}) {
                assertThat(seen(mounted.root().resolve(name)))
                        .containsEntry("uid", 1234)
                        .containsEntry("gid", 5678);
            }
            assertThat(permissions(seen(file))).isEqualTo(0750);
        }
    }

    /** Nobody here knows what it says: a mount of that version is to find it again. */
    @Test
    void whatALaterVersionWroteOutlivesThisOne() throws Exception {
        String folder = SharedAlluxio.folder();
        byte[] later = {2, 1, 4, 7};
        try (Store store = AlluxioMount.connect(SharedAlluxio.at("/"), SharedAlluxio.options(Map.of()));
                LogLines log = new LogLines()) {
            Map<String, byte[]> xattrs = Map.of(PosixXattr.XATTR, later);
            StoreWriter sink = store.create(folder + "/f", 0644, xattrs, UUID.randomUUID());
            sink.complete();
            try (MountedFileSystem mounted =
                    MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
                Path file = mounted.root().resolve("f");
                assertThat(file).isRegularFile();
                for (String attribute : new String[] {"unix:mode", "unix:uid"}) {
                    assertThatThrownBy(() -> Files.setAttribute(file, attribute, 0600))
                            .hasMessageContaining("Operation not supported");
                }
                assertThatThrownBy(() -> Files.setLastModifiedTime(file, TIME))
                        .hasMessageContaining("Operation not supported");
                assertThat(log.anyWith(folder + "/f: Attribute ")).isTrue();
                assertThat(log.anyWith("was written by a newer version of the gateway"))
                        .isTrue();
                assertThat(permissions(seen(file))).isEqualTo(0644);
                Files.writeString(file, "first");
                Files.writeString(file, ", second", StandardOpenOption.APPEND);
                assertThat(store.status(folder + "/f").xattrs()).containsEntry(PosixXattr.XATTR, later);
                Path moved = Files.move(file, mounted.root().resolve("moved"));
                assertThat(store.status(folder + "/moved").xattrs()).containsEntry(PosixXattr.XATTR, later);
                assertThat(moved).hasContent("first, second");
            }
        }
    }
}
