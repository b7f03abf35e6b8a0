package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.OffsetClock;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RefusedLoginTest {
    /** The first may have been with credentials that were valid for a time. */
    private static final int LOGINS = 2;

    private final FalseMaster master = new FalseMaster(true);

    RefusedLoginTest() throws IOException {}

    @AfterEach
    void end() {
        master.close();
    }

    @Test
    void mount_whoseLoginTheMasterRefuses_failsAtOnceWithWhatToCheck() throws Exception {
        StoreOptions options = new StoreOptions(
                master.address(), "alice", "THROUGH", true, Map.of("alluxio.security.authentication.type", "SIMPLE"));
        try (Store store = AlluxioStore.open(options, new OffsetClock())) {
            assertThatThrownBy(store::connect)
                    .isInstanceOfSatisfying(StoreException.class, e -> {
                        assertThat(e.errno()).isEqualTo(Errno.EACCES);
                        assertThat(e.isLoginRefused()).isTrue();
                    })
                    .hasMessageContaining("wrong password")
                    .hasMessageContaining("check the mount's user and its credentials");
        }
        assertThat(master.logins).hasValue(LOGINS);
    }
}
