package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** No two mounts have one name with a keeper. */
class PersistentMountIdTest {
    @Test
    void id_ofAnOrdinaryPath_isReadable() {
        assertThat(PersistentMount.id(Path.of("/mnt/data_1/a-b.c"))).isEqualTo(":mnt:data_1:a-b.c");
    }

    @Test
    void ids_ofPathsThatLookAlike_differ() {
        Set<String> ids = new HashSet<>();
        List<String> paths = List.of(
                "/a:b",
                "/a b",
                "/a/b",
                "/a;b",
                "/a\u00e4b",
                "/" + "x".repeat(254),
                "/" + "x/".repeat(300) + "y",
                "/" + "x/".repeat(300) + "z");
        for (String path : paths) {
            String id = PersistentMount.id(Path.of(path));
            assertThat(id).matches("[A-Za-z0-9._:-]{1,255}");
            ids.add(id);
        }
        assertThat(ids).hasSameSizeAs(paths);
    }
}
