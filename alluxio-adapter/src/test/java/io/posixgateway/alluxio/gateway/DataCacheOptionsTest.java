package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.fuse.time.Clock;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DataCacheOptionsTest {
    @Test
    void whoAsksForAVolume_mayNotChooseTheFolder() throws Exception {
        FileSystemFactory volumes = new FileSystemFactory(null, null, Clock.system());

        assertThatThrownBy(() -> volumes.options(Map.of("cache_dir", "/etc")))
                .isInstanceOf(OptionException.class)
                .hasMessageContainingAll("cache_dir", "--cache-dir");
        assertThatThrownBy(() -> volumes.options(Map.of("cache_dir_size", "1G")))
                .hasMessageContaining("--cache-dir-size");
    }

    @Test
    void folderOfAllVolumes_isAbsolute() throws Exception {
        FileSystemFactory volumes = new FileSystemFactory(null, null, Clock.system());

        assertThat(volumes.owning("cache_dir", null)).isSameAs(volumes);
        assertThat(volumes.owning("cache_dir", "/var/cache/pgw")).isNotSameAs(volumes);
        assertThatThrownBy(() -> volumes.owning("cache_dir", "cache")).hasMessageContaining("absolute path");
        assertThatThrownBy(() -> volumes.owning("cache_dir_size", "much")).isInstanceOf(OptionException.class);
    }
}
