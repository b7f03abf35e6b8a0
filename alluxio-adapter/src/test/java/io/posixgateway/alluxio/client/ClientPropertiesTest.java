package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.client.WriteType;
import alluxio.conf.Configuration;
import alluxio.conf.InstancedConfiguration;
import alluxio.conf.PropertyKey;
import alluxio.util.ConfigurationUtils;
import io.posixgateway.alluxio.store.StoreOptions;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClientPropertiesTest {
    @Test
    void mastersAndUserThatAreGivenCountWhateverThePropertiesSay() {
        Map<String, String> properties = Map.of(
                "alluxio.master.hostname", "elsewhere",
                "alluxio.master.rpc.addresses", "elsewhere:1,elsewhere:2",
                "alluxio.zookeeper.enabled", "true",
                "alluxio.zookeeper.address", "elsewhere:3",
                "alluxio.security.login.username", "another");
        InstancedConfiguration client =
                ClientProperties.of(new StoreOptions("127.0.0.1:1", "somebody", "THROUGH", false, properties));
        assertThat(ConfigurationUtils.getMasterRpcAddresses(client))
                .containsExactly(InetSocketAddress.createUnresolved("127.0.0.1", 1));
        assertThat(client.getBoolean(PropertyKey.ZOOKEEPER_ENABLED)).isFalse();
        assertThat(client.getString(PropertyKey.SECURITY_LOGIN_USERNAME)).isEqualTo("somebody");

        InstancedConfiguration elsewhere = ClientProperties.of(new StoreOptions("", "", "THROUGH", false, properties));
        assertThat(ConfigurationUtils.getMasterRpcAddresses(elsewhere)).hasSize(2);
        assertThat(elsewhere.getString(PropertyKey.SECURITY_LOGIN_USERNAME)).isEqualTo("another");
    }

    @Test
    void theClientDoesWhatTheOptionsSayWhateverThePropertiesDo() {
        Map<String, String> properties = Map.of(
                "alluxio.user.file.writetype.default",
                "MUST_CACHE",
                "alluxio.user.short.circuit.enabled",
                "true",
                "alluxio.user.block.size.bytes.default",
                "16MB",
                "alluxio.user.metadata.cache.enabled",
                "true");
        InstancedConfiguration client =
                ClientProperties.of(new StoreOptions("127.0.0.1:1", "", "THROUGH", false, properties));
        assertThat(client.getEnum(PropertyKey.USER_FILE_WRITE_TYPE_DEFAULT, WriteType.class))
                .isEqualTo(WriteType.THROUGH);
        assertThat(client.getBoolean(PropertyKey.USER_SHORT_CIRCUIT_ENABLED)).isFalse();
        assertThat(client.getBytes(PropertyKey.USER_BLOCK_SIZE_BYTES_DEFAULT)).isEqualTo(16 << 20);
        assertThat(client.getBoolean(PropertyKey.USER_METADATA_CACHE_ENABLED)).isFalse();
    }

    /** As docs/operations.md has it of servers that are restarted. */
    @Test
    void callsAreRepeatedForAboutTenSecondsUnlessATestIsInAHurry() {
        assertThat(limits()).containsExactly(Duration.ofSeconds(8), Duration.ofSeconds(10), Duration.ofSeconds(8));
        ShortTimeouts timeouts = new ShortTimeouts();
        try (timeouts) {
            assertThat(limits()).containsOnly(Duration.ofSeconds(1));
        }
        assertThat(limits()).containsExactly(Duration.ofSeconds(8), Duration.ofSeconds(10), Duration.ofSeconds(8));
    }

    @Test
    void retriesOfSeveralMasters_lastTwoMinutesUnlessGiven() {
        assertThat(retries("127.0.0.1:1,127.0.0.1:2", Map.of())).isEqualTo(Duration.ofMinutes(2));
        assertThat(retries("", Map.of("alluxio.master.rpc.addresses", "127.0.0.1:1,127.0.0.1:2")))
                .isEqualTo(Duration.ofMinutes(2));
        assertThat(retries("127.0.0.1:1", Map.of())).isEqualTo(Duration.ofSeconds(8));
        assertThat(retries("127.0.0.1:1,127.0.0.1:2", Map.of("alluxio.user.rpc.retry.max.duration", "8sec")))
                .isEqualTo(Duration.ofSeconds(8));
    }

    private static Duration retries(String masters, Map<String, String> properties) {
        return ClientProperties.of(new StoreOptions(masters, "", "THROUGH", false, properties))
                .getDuration(PropertyKey.USER_RPC_RETRY_MAX_DURATION);
    }

    @Test
    void retriesOfSeveralMasters_outlastWorkersThatRegisterWithTheNextLeader() {
        InstancedConfiguration client =
                ClientProperties.of(new StoreOptions("127.0.0.1:1,127.0.0.1:2", "", "THROUGH", false, Map.of()));
        assertThat(client.getDuration(PropertyKey.USER_FILE_WRITE_INIT_MAX_DURATION))
                .isEqualTo(Duration.ofMinutes(2));
        assertThat(client.getDuration(PropertyKey.USER_BLOCK_READ_RETRY_MAX_DURATION))
                .isEqualTo(Duration.ofMinutes(2));
    }

    private static List<Duration> limits() {
        InstancedConfiguration client =
                ClientProperties.of(new StoreOptions("127.0.0.1:1", "", "THROUGH", false, Map.of()));
        // Alluxio's retries look nowhere else.
        Duration calls = Configuration.getDuration(PropertyKey.USER_RPC_RETRY_MAX_DURATION);
        assertThat(client.getDuration(PropertyKey.USER_RPC_RETRY_MAX_DURATION)).isEqualTo(calls);
        return List.of(
                calls,
                client.getDuration(PropertyKey.USER_BLOCK_READ_RETRY_MAX_DURATION),
                client.getDuration(PropertyKey.USER_FILE_WRITE_INIT_MAX_DURATION));
    }
}
