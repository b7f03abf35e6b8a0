package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AlluxioOptionsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            alluxio://h:19998/data/         | h:19998             | /data
            alluxio://h:1                   | h:1                 | /
            alluxio://m1:65535,m2:1//a//b   | m1:65535,m2:1       | /a/b
            alluxio://[::1]:19998/data      | [::1]:19998         | /data
            /data                           | ''                  | /data
            """)
    void ofUri_takesMastersAndPath(String uri, String masters, String path) {
        AlluxioOptions options = AlluxioOptions.ofUri(uri);
        assertThat(options.masters()).isEqualTo(masters);
        assertThat(options.path()).isEqualTo(path);
    }

    @ParameterizedTest
    @ValueSource(strings = {"alluxio://h/", "alluxio://h:65536/", "alluxio://::1:19998/", "alluxio://h:1,/"})
    void ofUri_ofAnotherAddress_isRefusedWithTheForm(String uri) {
        assertThatThrownBy(() -> AlluxioOptions.ofUri(uri))
                .hasMessageContaining("give HOST:PORT, for example 10.0.0.1:19998");
    }
}
