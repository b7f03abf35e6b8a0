package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.conf.InstancedConfiguration;
import alluxio.security.User;
import alluxio.security.authentication.AuthenticationUtils;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.time.Clock;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LoginTest {
    private static final String IMPERSONATED = "alluxio.security.login.impersonation.username";
    private static final String SELF = System.getProperty("user.name", "");

    private static StoreOptions options(String user, Map<String, String> properties) {
        return new StoreOptions("127.0.0.1:1", user, "MUST_CACHE", false, properties);
    }

    /** Whom Alluxio's client acts for; null: for the user itself. */
    private static @Nullable String impersonated(Login login, InstancedConfiguration configuration) {
        return AuthenticationUtils.getImpersonationUser(login.subject(), configuration);
    }

    private static void isLogin(String user, Map<String, String> properties, String expectedLogin) {
        StoreOptions options = options(user, properties);
        InstancedConfiguration configuration = ClientProperties.of(options);
        Login login = Login.of(options, configuration);
        assertThat(impersonated(login, configuration)).isEqualTo("bob");
        assertThat(login.user()).isEqualTo("bob");
        assertThat(login.subject().getPrincipals(User.class))
                .extracting(User::getName)
                .containsExactly(expectedLogin);
    }

    @Test
    void impersonatedUser_isWhomConnectionsActFor() {
        isLogin("alice", Map.of(IMPERSONATED, "bob"), "alice");
        isLogin("", Map.of(IMPERSONATED, "bob", "alluxio.security.login.username", "carol"), "carol");
        isLogin("", Map.of(IMPERSONATED, "bob"), SELF);
    }

    @Test
    void nobodyToImpersonate_isTheUserItself() {
        for (StoreOptions options :
                List.of(options("alice", Map.of()), options("alice", Map.of(IMPERSONATED, "_NONE_")))) {
            InstancedConfiguration configuration = ClientProperties.of(options);
            Login login = Login.of(options, configuration);
            assertThat(impersonated(login, configuration)).isNull();
            assertThat(login.user()).isEqualTo("alice");
        }
    }

    @Test
    void userOfHadoop_isRefusedWithWhatToSet() {
        assertThatThrownBy(
                        () -> AlluxioStore.open(options("alice", Map.of(IMPERSONATED, "_HDFS_USER_")), Clock.system()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining(IMPERSONATED)
                .hasMessageContaining("give the name of an Alluxio user");
    }
}
