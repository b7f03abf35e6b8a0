package io.posixgateway.alluxio.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FuseRequests.Listed;
import io.posixgateway.alluxio.store.FuseRequests.Opened;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A listing ends, though names are renamed meanwhile. */
class RenamedWhileListedTest {
    private static final int FILES = 2500;
    private static final int ROOM_BYTES = 4096;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    /** How many names are shown, at most, of a directory whose names are changed as they are shown. */
    private static int list(MemoryMount mount, int most, Consumer<String> change) {
        Opened directory = mount.requests().opendir(mount.lookup("/d"));
        int shown = 0;
        List<Listed> part = mount.requests().readdir(directory, 0, ROOM_BYTES);
        while (!part.isEmpty() && shown <= most) {
            for (Listed listed : part) {
                if (!listed.name().startsWith(".")) {
                    shown++;
                    change.accept(listed.name());
                }
            }
            part = mount.requests().readdir(directory, part.get(part.size() - 1).nextOffset(), ROOM_BYTES);
        }
        mount.requests().releasedir(directory);
        return shown;
    }

    private static void fill(MemoryMount mount) {
        mount.mkdir("/d");
        for (int i = 0; i < FILES; i++) {
            mount.create("/d/f" + i).close();
        }
    }

    @Test
    void listing_whoseNamesAreRenamedAwayAndBack_showsEachOnce() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            fill(mount);
            int shown = list(mount, 4 * FILES, name -> {
                mount.rename("/d/" + name, "/d/away");
                mount.rename("/d/away", "/d/" + name);
            });
            assertThat(shown).isEqualTo(FILES);
        }
    }
}
