package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.exception.AccessControlException;
import alluxio.exception.FileDoesNotExistException;
import alluxio.exception.status.ResourceExhaustedException;
import alluxio.exception.status.UnavailableException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class ErrnoTableTest {
    @Test
    void theFirstKnownCauseCounts() {
        assertThat(ErrnoTable.of(new IOException(new AccessControlException("no"))))
                .isEqualTo(Errno.EACCES);
        assertThat(ErrnoTable.of(new FileDoesNotExistException("gone"))).isEqualTo(Errno.ENOENT);
        assertThat(ErrnoTable.of(new ResourceExhaustedException("full"))).isEqualTo(Errno.ENOSPC);
        assertThat(ErrnoTable.of(new UnavailableException("no master"))).isEqualTo(Errno.EIO);
        assertThat(ErrnoTable.of(new IllegalStateException("never seen before")))
                .isEqualTo(Errno.EIO);
    }
}
