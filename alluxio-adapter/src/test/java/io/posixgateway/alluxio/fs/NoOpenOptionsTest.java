package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.gateway.MountOptions;
import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.options.OptionTable;
import io.posixgateway.alluxio.options.OptionValues;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What goes together with {@code no_open}, and what is said where it does not. */
class NoOpenOptionsTest {
    private static OptionValues values(String text) {
        return AdapterOptions.TABLE.and(MountOptions.SESSION).read(OptionTable.split(List.of(text)));
    }

    @Test
    void filesAreOpenedByTheKernelOnReadOnlyMountsOfWhatNeverChanges() {
        OptionValues values = values("ro,consistency=immutable,no_open");
        AdapterOptions options = AdapterOptions.of(values);
        assertThat(options.noOpen()).isTrue();
        assertThat(options.passthroughBytes()).isZero();
        assertThat(MountOptions.mounted(values, "source").readOnly()).isTrue();
        assertThat(AdapterOptions.defaults().noOpen()).isFalse();
    }

    @Test
    void otherCombinationsAreRefusedWithWhatToDo() {
        assertThatThrownBy(() -> AdapterOptions.of(values("ro,no_open")))
                .isInstanceOf(OptionException.class)
                .hasMessageContaining("needs consistency=immutable");
        assertThatThrownBy(() -> AdapterOptions.of(values("ro,consistency=immutable,no_open,passthrough=on")))
                .isInstanceOf(OptionException.class)
                .hasMessageContaining("exclude each other");
        assertThatThrownBy(() -> MountOptions.mounted(values("consistency=immutable,no_open"), "source"))
                .isInstanceOf(OptionException.class)
                .hasMessageContaining("add ro");
    }

    @Test
    void aPersistentMountIsReadOnlyWhereItsKeeperMadeItSo() {
        OptionValues values = values("consistency=immutable,no_open");
        assertThat(MountOptions.kept(values, "source", true).readOnly()).isTrue();
        assertThatThrownBy(() -> MountOptions.kept(values, "source", false)).isInstanceOf(OptionException.class);
    }
}
