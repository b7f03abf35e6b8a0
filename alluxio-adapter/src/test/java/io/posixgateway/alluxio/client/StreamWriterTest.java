package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import alluxio.client.file.URIStatus;
import alluxio.exception.status.NotFoundException;
import alluxio.wire.FileInfo;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which failed uploads are retried, as they may succeed through another worker, or later. */
class StreamWriterTest {
    private static StoreException failedWith(Exception cause) {
        WorkerHealth watch = new WorkerHealth(new ManualClock(), address -> true, (work, delayNanos) -> () -> {});
        StreamWriter sink = new StreamWriter(
                "/file",
                new URIStatus(new FileInfo()),
                new WriteWorkerSelector(watch, options -> Optional.empty()),
                lengthBytes -> {
                    throw new IOException(cause);
                });
        StoreException failure = catchThrowableOfType(StoreException.class, sink::complete);
        assertThat(failure.errno()).isEqualTo(Errno.EIO);
        return failure;
    }

    /** Its next heartbeat registers it again, and there may be other workers. */
    @Test
    void complete_byUnregisteredWorker_isRetried() {
        assertThat(failedWith(new NotFoundException("No worker with workerId 214834534081913616 is found"))
                        .isUnanswered())
                .isTrue();
    }

    @Test
    void complete_byWorkerWithoutTheBlock_isNotRetried() {
        assertThat(failedWith(new NotFoundException("Block 5 not found")).isUnanswered())
                .isFalse();
    }
}
