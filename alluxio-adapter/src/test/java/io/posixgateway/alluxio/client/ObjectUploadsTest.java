package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.client.block.policy.BlockLocationPolicy;
import alluxio.client.file.URIStatus;
import alluxio.exception.status.UnknownException;
import alluxio.grpc.MountPointInfo;
import alluxio.wire.FileInfo;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The disk on which a worker keeps objects that are not uploaded yet is named before it is full, and when it is. */
class ObjectUploadsTest {
    private static MountPointInfo mount(String uri, Map<String, String> properties) {
        return MountPointInfo.newBuilder()
                .setUfsUri(uri)
                .putAllProperties(properties)
                .build();
    }

    @Test
    void advice_forBucketsThatAreUploadedWhole_namesBothProperties() {
        List<String> lines = ObjectUploads.advice(
                Map.of("/", mount("/data", Map.of()), "/b", mount("s3://bucket/b", Map.of())),
                Map.of(ObjectUploads.FOLDERS, "/tmp"));
        assertThat(lines)
                .singleElement()
                .asString()
                .startsWith("/b is on s3://bucket/b, and alluxio.underfs.s3.streaming.upload.enabled is off")
                .contains("alluxio.tmp.dirs (/tmp)", "ENOSPC", "streaming.upload.enabled=true");
    }

    @ParameterizedTest
    @CsvSource({"true,,false", "false,true,false", "true,false,true", ",,true", ",true,false"})
    void advice_heedsTheClustersPropertyAndTheMountPointsOverIt(String ofCluster, String ofMount, boolean expected) {
        Map<String, String> cluster = ofCluster == null ? Map.of() : Map.of(ObjectUploads.STREAMING, ofCluster);
        Map<String, String> own = ofMount == null ? Map.of() : Map.of(ObjectUploads.STREAMING, ofMount);
        assertThat(ObjectUploads.advice(Map.of("/", mount("s3a://bucket/", own)), cluster))
                .hasSize(expected ? 1 : 0);
    }

    /** As a worker reports that its disk is full. */
    private static AbstractThrowableAssert<?, ?> closeOnFullDisk(String ufsPath) {
        BlockLocationPolicy anywhere = options -> Optional.empty();
        WorkerHealth watch = new WorkerHealth(new ManualClock(), address -> true, (work, delayNanos) -> () -> {});
        URIStatus made = new URIStatus(new FileInfo().setUfsPath(ufsPath));
        StreamWriter sink = new StreamWriter("/file", made, new WriteWorkerSelector(watch, anywhere), lengthBytes -> {
            throw new IOException(new UnknownException("No space left on device"));
        });
        return assertThatThrownBy(sink::complete)
                .hasMessageContaining("/file")
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOSPC));
    }

    @Test
    void close_whenTheDiskOfAWorkerIsFull_namesBothProperties() {
        closeOnFullDisk("s3://bucket/file")
                .hasMessageContaining("keeps the whole object in its alluxio.tmp.dirs")
                .hasMessageContaining("alluxio.underfs.s3.streaming.upload.enabled=true");
    }

    @Test
    void close_whenTheDiskOfAWorkerIsFull_namesWhatOtherObjectStoresHave() {
        closeOnFullDisk("gs://bucket/file")
                .hasMessageContaining("alluxio.tmp.dirs")
                .hasMessageNotContaining("underfs.s3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/data/file", "hdfs://host/file"})
    void close_whenAnotherUfsIsFull_namesNeither(String ufsPath) {
        closeOnFullDisk(ufsPath).hasMessageNotContaining("tmp.dirs");
    }
}
