package io.posixgateway.alluxio.bypass;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.jni.Bypass;
import io.posixgateway.fuse.jni.Native;
import org.junit.jupiter.api.Test;

/** Both ends of the socket mean the same. */
class BypassResultTest {
    @Test
    void verdictsHaveTheNumbersOfTheLibrary() {
        for (BypassResult bypassResult : BypassResult.values()) {
            assertThat(Native.layout("PGW_BYPASS_" + bypassResult.name()))
                    .as(bypassResult.name())
                    .isEqualTo(bypassResult.number());
            assertThat(BypassResult.of(bypassResult.number())).isEqualTo(bypassResult);
        }
        assertThat(Native.layout("PGW_BYPASS_STATUSES")).isEqualTo(BypassResult.values().length);
        assertThat(Native.layout("PGW_BYPASS_BLOCKS")).isEqualTo(Bypass.MAX_BLOCKS);
    }
}
