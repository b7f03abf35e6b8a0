package io.posixgateway.alluxio.bypass;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.jni.Bypass;
import io.posixgateway.fuse.jni.Native;
import org.junit.jupiter.api.Test;

/** Both ends of the socket mean the same. */
class VerdictTest {
    @Test
    void verdictsHaveTheNumbersOfTheLibrary() {
        for (Verdict verdict : Verdict.values()) {
            assertThat(Native.layout("PGW_BYPASS_" + verdict.name()))
                    .as(verdict.name())
                    .isEqualTo(verdict.number());
            assertThat(Verdict.of(verdict.number())).isEqualTo(verdict);
        }
        assertThat(Native.layout("PGW_BYPASS_STATUSES")).isEqualTo(Verdict.values().length);
        assertThat(Native.layout("PGW_BYPASS_BLOCKS")).isEqualTo(Bypass.MOST_BLOCKS);
    }
}
