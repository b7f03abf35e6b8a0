package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.client.WriteType;
import alluxio.conf.InstancedConfiguration;
import alluxio.conf.PropertyKey;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClientPropertiesTest {
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
}
