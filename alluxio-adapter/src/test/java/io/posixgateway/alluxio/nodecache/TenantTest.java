package io.posixgateway.alluxio.nodecache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class TenantTest {
    private static final Tenant ONE = Tenant.of("cluster", "user", Map.of("alluxio.security.login.username", "u"));

    @Test
    void volumesShare_byClusterUserAndIdentityAlone() {
        assertThat(Tenant.of(
                        "cluster",
                        "user",
                        Map.of("alluxio.security.login.username", "u", "alluxio.user.file.readtype.default", "CACHE")))
                .isEqualTo(ONE);
        assertThat(Tenant.of("other", "user", Map.of("alluxio.security.login.username", "u")))
                .isNotEqualTo(ONE);
        assertThat(Tenant.of("cluster", "other", Map.of("alluxio.security.login.username", "u")))
                .isNotEqualTo(ONE);
        assertThat(Tenant.of("cluster", "user", Map.of("alluxio.security.login.username", "v")))
                .isNotEqualTo(ONE);
        assertThat(Tenant.of("clusteru", "ser", Map.of("alluxio.security.login.username", "u")))
                .isNotEqualTo(ONE);
        assertThat(ONE.folder()).hasSize(16);
    }
}
