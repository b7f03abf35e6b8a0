package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.LoadState;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A real master takes the load, and two workers fetch the files. */
class LoaderIT {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final int FILES = 20;
    private static final int BYTES = 300_000;
    /** As a class is called in the request: a name of ours must not be taken for one. */
    private static final String FOLDER = "alluxio.shaded.client.com.google";

    @Test
    void aMasterLoadsWhatItIsAskedFor() throws Exception {
        TestDirectory own = Clusters.directory(Clusters.twoWorkers());
        try (Store store = AlluxioStore.open(
                new StoreOptions(own.masters(), "", "CACHE_THROUGH", true, Map.of()), Clock.system())) {
            Path folder = Files.createDirectory(own.ufs().resolve(FOLDER));
            for (int i = 0; i < FILES; i++) {
                Files.write(folder.resolve("file" + i), new byte[BYTES]);
            }
            String path = own.path() + "/" + FOLDER;
            store.list(path, "", FILES); // the master loads what it knows of
            assertThat(store.load(path)).isTrue();
            Waiting.until("it is done", LIMIT, () -> store.loadState(path).done());

            assertThat(store.loadState(path))
                    .isEqualTo(new LoadState(true, (long) FILES * BYTES, (long) FILES * BYTES, 0, ""));
            for (int i = 0; i < FILES; i++) {
                assertThat(store.details(path + "/file" + i).inAlluxioPercent()).isEqualTo(100);
            }
        }
    }
}
