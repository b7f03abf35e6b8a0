package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What a failure means to who asked for a volume: a takeover retries what is UNAVAILABLE for ever, and its programs wait. */
class FileSystemFactoryTest {
    private final IOException cause = new IOException("Input/output error");

    @Test
    void anErrorOfAlluxio_isUnavailable() {
        assertThat(FileSystemFactory.kindOf(new StoreException(Errno.EIO, "no answer", cause)))
                .isEqualTo(Kind.UNAVAILABLE);
        assertThat(FileSystemFactory.kindOf(StoreException.unanswered("no answer", cause)))
                .isEqualTo(Kind.UNAVAILABLE);
        assertThat(FileSystemFactory.kindOf(new StoreException(Errno.EBUSY, "another process serves it", cause)))
                .isEqualTo(Kind.UNAVAILABLE);
    }

    @Test
    void anErrorOfThisNodesDisk_isNotRetriedForEver() {
        for (int errno : new int[] {Errno.EIO, Errno.EROFS}) {
            assertThat(FileSystemFactory.kindOf(StoreException.ofThisNode(errno, "records", cause)))
                    .isEqualTo(Kind.PRECONDITION);
        }
        assertThat(FileSystemFactory.kindOf(StoreException.ofThisNode(Errno.EPERM, "state folder", cause)))
                .isEqualTo(Kind.DENIED);
    }

    @Test
    void aFullDiskOfThisNode_isRetried_andSaysToMakeRoom() {
        for (int errno : new int[] {Errno.ENOSPC, Errno.EDQUOT}) {
            ServiceException failure = FileSystemFactory.failure(StoreException.ofThisNode(errno, "records", cause));
            assertThat(failure.kind()).isEqualTo(Kind.UNAVAILABLE);
            assertThat(failure).hasMessageContaining("make room on the disk");
        }
    }
}
