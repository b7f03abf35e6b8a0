package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.UfsKind;
import io.posixgateway.fuse.time.ManualClock;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In which under file system a path lies, and of what kind that is. */
class MountPointsTest {
    private final ManualClock clock = new ManualClock();
    private final Map<String, String> table = new HashMap<>(Map.of("/", "/data/ufs", "/s3", "s3://bucket/prefix"));
    private int requests;
    private final MountPoints mountPoints = new MountPoints(
            () -> {
                requests++;
                return Map.copyOf(table);
            },
            clock);

    @ParameterizedTest
    @CsvSource({"/,/", "/a/b,/", "/s3,/s3", "/s3/a/b,/s3", "/s30/a,/"})
    void a_path_belongs_to_the_nearest_mount_point_above(String path, String mountPoint) throws Exception {
        assertThat(mountPoints.of(path).path()).isEqualTo(mountPoint);
    }

    @ParameterizedTest
    @CsvSource({
        "/data,LOCAL",
        "file:///data,LOCAL",
        "s3://b/,OBJECT_STORE",
        "S3A://b/,OBJECT_STORE",
        "gs://b/,OBJECT_STORE",
        "hdfs://name:9000/,HDFS",
        "abfs://c@a/,OTHER"
    })
    void the_scheme_tells_the_kind(String uri, UfsKind kind) {
        assertThat(UfsKind.of(uri)).isEqualTo(kind);
    }

    @Test
    void a_mount_point_that_is_made_later_is_seen_after_ten_seconds() throws Exception {
        mountPoints.of("/later/a");
        table.put("/later", "hdfs://name:9000/");
        clock.advanceNanos(TimeUnit.SECONDS.toNanos(10));
        assertThat(mountPoints.of("/later/a").path()).isEqualTo("/");
        assertThat(requests).isEqualTo(1);
        clock.advanceNanos(1);
        assertThat(mountPoints.of("/later/a").path()).isEqualTo("/later");
    }
}
