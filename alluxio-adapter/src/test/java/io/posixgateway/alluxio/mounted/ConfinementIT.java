package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever may use a volume cannot reach by it what lies beside the volume's root in Alluxio. */
class ConfinementIT {
    private static final String SECRET = "beside the root";

    /** An Alluxio folder with a secret, and a volume whose root is beside it. */
    private static String volume() throws Exception {
        String folder = SharedAlluxio.folder();
        Files.writeString(SharedAlluxio.ufs(folder).resolve("secret"), SECRET);
        try (Store store = AlluxioMount.connect(SharedAlluxio.at("/"), SharedAlluxio.options(Map.of()))) {
            store.makeDirectory(folder + "/root", 0777, Map.of());
            assertThat(store.status(folder + "/secret").lengthBytes()).isEqualTo(SECRET.length());
        }
        return folder + "/root";
    }

    private static MountedFileSystem mount(String root) throws Exception {
        return MountedFileSystem.mount(SharedAlluxio.open(root, Map.of()), TransportChoice.AUTO);
    }

    /** The text leads from where the link lies on this host, never through Alluxio: there it would find the secret. */
    @ParameterizedTest
    @ValueSource(strings = {"../secret", "sub/../../secret", "./../secret", "/secret", "../../../../../../secret"})
    void a_symlink_is_text_that_the_gateway_never_follows(String target) throws Exception {
        String root = volume();
        try (MountedFileSystem mounted = mount(root)) {
            Files.createDirectory(mounted.root().resolve("sub"));
            Path link = Files.createSymbolicLink(mounted.root().resolve("link"), Path.of(target));
            assertNotFollowed(link, target);
        }
        try (MountedFileSystem anew = mount(root)) {
            assertNotFollowed(anew.root().resolve("link"), target);
            Files.delete(anew.root().resolve("link"));
        }
        assertThat(Files.readString(SharedAlluxio.ufs(root).resolveSibling("secret")))
                .isEqualTo(SECRET);
    }

    private static void assertNotFollowed(Path link, String target) throws IOException {
        assertThat(Files.readSymbolicLink(link)).isEqualTo(Path.of(target));
        assertThatThrownBy(() -> Files.readString(link)).isInstanceOf(NoSuchFileException.class);
    }

    /** Beside the mount point is this host, not Alluxio. */
    @Test
    void two_dots_lead_to_the_host_not_to_what_lies_above_the_root_in_Alluxio() throws Exception {
        try (MountedFileSystem mounted = mount(volume())) {
            Path sub = Files.createDirectory(mounted.root().resolve("sub"));
            assertThat(Files.exists(mounted.root().resolve("../secret"))).isFalse();
            assertThat(Files.exists(sub.resolve("../../secret"))).isFalse();
            Path own = Files.writeString(mounted.root().resolve("own"), "own");
            assertThatThrownBy(() -> Files.createLink(mounted.root().resolve("hard"), own))
                    .isInstanceOf(IOException.class);
            Files.move(own, sub.resolve("../moved"));
            assertThat(Files.readString(mounted.root().resolve("moved"))).isEqualTo("own");
        }
    }
}
