package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FuseRequests.Listed;
import io.posixgateway.alluxio.store.FuseRequests.Opened;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A listing ends, though names are renamed meanwhile. */
class RenamedWhileListedTest {
    private static final int FILES = 2500;
    private static final int ROOM_BYTES = 4096;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    /** How many names are shown, at most, of a directory whose names are changed as they are shown. */
    private static int list(MemoryMount mount, int most, Consumer<String> change) {
        return names(mount, most, change).size();
    }

    /** Which. */
    private static List<String> names(MemoryMount mount, int most, Consumer<String> change) {
        Opened directory = mount.requests().opendir(mount.lookup("/d"));
        List<String> shown = new ArrayList<>();
        List<Listed> part = mount.requests().readdir(directory, 0, ROOM_BYTES);
        while (!part.isEmpty() && shown.size() <= most) {
            for (Listed listed : part) {
                if (!listed.name().startsWith(".")) {
                    shown.add(listed.name());
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

    /** What happens once, when the first name is shown. */
    private static Consumer<String> once(Runnable change) {
        AtomicBoolean done = new AtomicBoolean();
        return name -> {
            if (done.compareAndSet(false, true)) {
                change.run();
            }
        };
    }

    @Test
    void listing_whoseNamesAreRenamedBehindAllOthers_showsEachFileOnce() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            fill(mount);
            AtomicInteger number = new AtomicInteger();
            int shown = list(
                    mount, 4 * FILES, name -> mount.rename("/d/" + name, "/d/z" + (10_000 + number.getAndIncrement())));
            assertThat(shown).isEqualTo(FILES);
            assertThat(list(mount, 4 * FILES, name -> {})).as("afterwards").isEqualTo(FILES);
        }
    }

    @Test
    void listing_fileThatIsRenamedBeforeItIsShown_showsItByItsNewName() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            fill(mount);
            List<String> shown = names(mount, 4 * FILES, once(() -> {
                mount.rename("/d/f999", "/d/z");
                mount.rename("/d/f998", "/d/a");
                mount.rename("/d/a", "/d/y");
            }));
            assertThat(shown).hasSize(FILES).doesNotHaveDuplicates().contains("y", "z");
        }
    }

    @Test
    void listing_namesWhoseFilesAreReplacedBeforeTheyAreShown_showsThem() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            fill(mount);
            List<String> shown = names(mount, 4 * FILES, once(() -> {
                mount.write("/d/a", "new");
                mount.unlink("/d/f999");
                mount.rename("/d/a", "/d/f999");
                mount.rename("/d/f0", "/d/f998");
                mount.mkdir("/d/b");
                mount.rename("/d/b", "/d/z");
            }));
            assertThat(shown).doesNotHaveDuplicates().contains("f998", "f999", "z");
        }
    }
}
