package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the under file system holds above a directory of Alluxio counts, its name does not. */
class PathLimitTest {
    @ParameterizedTest
    @CsvSource({
        "/dir, /data/dir, 4090",
        "/dir, s3://bucket/data/dir, 1019",
        "/dir, hdfs://name:9000/dir, 8000",
        "/dir, hdfs://name:9000/data/dir, 7995",
        "/, hdfs://name:9000/, 8000",
        "/dir, abfs://c@a/data/dir, 2147483647",
        "/dir, '', 2147483647"
    })
    void ofUfs_countsThePathInTheUfs(String path, String ufsPath, int longest) {
        assertThat(PathLimit.ofUfs(path, ufsPath)).isEqualTo(longest);
    }
}
