package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.fuse.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockFolderRulesTest {
    @Test
    void option_mastersThatNobodyAllowed_readNoBlockFiles() {
        BlockFolderRules rules = BlockFolderRules.of(List.of("/mnt/ramdisk:/nvme", "a:1,b:2=/other"));
        assertThat(rules.option("")).isEqualTo("/mnt/ramdisk:/nvme");
        assertThat(rules.option("a:1,b:2")).isEqualTo("/other");
        assertThat(rules.option("a:1")).isEqualTo("none");
        assertThat(BlockFolderRules.of(List.of()).option("")).isEqualTo("none");
        assertThat(BlockFolderRules.of(List.of("*=/mnt")).option("a:1")).isEqualTo("/mnt");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "relative", "a:1=", "a:1=relative", "/mnt:", "/mnt::/other"})
    void of_whatIsNoListOfFolders_isRefused(String given) {
        assertThatThrownBy(() -> BlockFolderRules.of(List.of(given))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void of_sameMastersTwice_isRefused() {
        assertThatThrownBy(() -> BlockFolderRules.of(List.of("/a", "/b"))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void options_ofWhoAsksForAVolume_doNotChooseTheFolders() throws Exception {
        FileSystemFactory volumes = new FileSystemFactory(null, null, BlockFolderRules.of(List.of()), Clock.system());
        assertThatThrownBy(() -> volumes.options(Map.of("block_folders", "/")))
                .isInstanceOf(OptionException.class)
                .hasMessageContaining("--block-folders");
    }
}
