package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.dispatch.RateLimit;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.session.SessionOptions.Feature;
import io.posixgateway.fuse.time.Clock;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits of what volumes may ask for: their own, and the administrator's ceilings. */
class RateCeilingsTest {
    private static final long MIB = 1 << 20;

    private static SessionOptions session(RateCeilings ceilings, Map<String, String> given) throws ServiceException {
        FileSystemFactory volumes =
                new FileSystemFactory(null, null, "", BlockFolderRules.all(""), ceilings, Clock.system());
        return MountOptions.kept(volumes.options(given), "v", true);
    }

    @Test
    void options_byDefault_limitNothing() throws ServiceException {
        assertThat(session(RateCeilings.NONE, Map.of()).limit()).isEqualTo(RateLimit.NONE);
        assertThat(session(RateCeilings.of("", ""), Map.of()).limit().isSet()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "'',  '',   10M,  100,  10, 100",
        "5M,  50,   10M,  100,  5,  50",
        "5M,  50,   2M,   20,   2,  20",
        "5M,  50,   '',   '',   5,  50",
        "5M,  '',   '',   20,   5,  20",
        "'',  50,   1G,   '',   1024,  50",
    })
    void options_underCeilings_areTheLesserOfBoth(
            String maxBytes, String maxRequests, String bytes, String requests, long mib, long perSecond)
            throws ServiceException {
        Map<String, String> given = new HashMap<>();
        given.put("bytes_per_second", bytes);
        given.put("requests_per_second", requests);
        given.values().removeIf(String::isEmpty);
        assertThat(session(RateCeilings.of(maxBytes, maxRequests), given).limit())
                .isEqualTo(new RateLimit(mib * MIB, perSecond));
    }

    @Test
    void of_whatTheOptionDoesNotAllow_isRefused() {
        assertThatThrownBy(() -> RateCeilings.of("1K", ""))
                .isInstanceOf(OptionException.class)
                .hasMessageContaining("1M");
        assertThatThrownBy(() -> RateCeilings.of("", "0"))
                .isInstanceOf(OptionException.class)
                .hasMessageContaining("requests_per_second");
    }

    /** What the kernel or a program reads by itself nobody could limit. */
    @Test
    void options_withALimitOfBytes_letNobodyReadBlockFilesByHimself() throws ServiceException {
        RateCeilings ceilings = RateCeilings.of("1M", "");
        Map<String, String> given = Map.of("passthrough", "on", "bypass", "on", "consistency", "immutable");
        assertThat(session(ceilings, given).off().get(Feature.PASSTHROUGH)).isEqualTo("excluded by bytes_per_second");
        OptionValues limited = ceilings.over(FileSystemFactory.OPTIONS.read(given));
        assertThat(AdapterOptions.of(limited).bypassBytes()).isZero();
        assertThat(AdapterOptions.of(limited).passthroughBytes()).isZero();
        assertThat(AdapterOptions.of(FileSystemFactory.OPTIONS.read(given)).bypassBytes())
                .isPositive();
        assertThat(session(RateCeilings.of("", "10"), given).off()).doesNotContainKey(Feature.PASSTHROUGH);
    }
}
