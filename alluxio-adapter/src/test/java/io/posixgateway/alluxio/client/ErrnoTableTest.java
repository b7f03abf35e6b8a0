package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import alluxio.exception.AccessControlException;
import alluxio.exception.AlluxioException;
import alluxio.exception.BlockAlreadyExistsException;
import alluxio.exception.BusyException;
import alluxio.exception.DirectoryNotEmptyException;
import alluxio.exception.ExceptionMessage;
import alluxio.exception.FileAlreadyCompletedException;
import alluxio.exception.FileAlreadyExistsException;
import alluxio.exception.FileDoesNotExistException;
import alluxio.exception.FileIncompleteException;
import alluxio.exception.InvalidFileSizeException;
import alluxio.exception.InvalidPathException;
import alluxio.exception.OpenDirectoryException;
import alluxio.exception.ServiceNotFoundException;
import alluxio.exception.status.AlluxioStatusException;
import alluxio.exception.status.DeadlineExceededException;
import alluxio.exception.status.FailedPreconditionException;
import alluxio.exception.status.NotFoundException;
import alluxio.exception.status.PermissionDeniedException;
import alluxio.exception.status.ResourceExhaustedException;
import alluxio.exception.status.UnavailableException;
import alluxio.shaded.client.io.grpc.Status;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class ErrnoTableTest {
    private static Stream<Arguments> classes() {
        return Stream.of(
                arguments(new FileDoesNotExistException("gone"), Errno.ENOENT),
                arguments(new FileNotFoundException("gone"), Errno.ENOENT),
                arguments(new NotFoundException("Path \"/out of space\" does not exist."), Errno.ENOENT),
                arguments(new PermissionDeniedException("no space left/ is not yours"), Errno.EACCES),
                arguments(new FileAlreadyExistsException("there"), Errno.EEXIST),
                arguments(new BlockAlreadyExistsException("there"), Errno.EIO),
                arguments(new DirectoryNotEmptyException("full"), Errno.ENOTEMPTY),
                arguments(new AccessControlException("no"), Errno.EACCES),
                arguments(new AccessControlException(readOnly("/ro/a", "/ro")), Errno.EROFS),
                arguments(new PermissionDeniedException(readOnly("/ro/a", "/ro")), Errno.EROFS),
                arguments(
                        new PermissionDeniedException("Permission denied: path=" + readOnly("/a", "/")), Errno.EACCES),
                arguments(new NotFoundException(readOnly("/ro/a", "/ro")), Errno.ENOENT),
                arguments(new AlluxioException("Permission denied: user=x"), Errno.EACCES),
                arguments(new FileIncompleteException("being written"), Errno.EBUSY),
                arguments(new FileAlreadyCompletedException("was written"), Errno.EBUSY),
                arguments(new BusyException(), Errno.EBUSY),
                arguments(new OpenDirectoryException("a directory"), Errno.EISDIR),
                arguments(new InvalidPathException("bad"), Errno.EINVAL),
                arguments(new InvalidPathException("Renaming /a to /s3/a is a cross mount operation"), Errno.EXDEV),
                arguments(new InvalidFileSizeException("big"), Errno.EFBIG),
                arguments(new IOException("No space left on device"), Errno.ENOSPC),
                arguments(new IOException("Not enough space left on worker"), Errno.ENOSPC),
                arguments(new IOException("The DiskSpace quota of /d is exceeded: quota = 1 B"), Errno.ENOSPC),
                arguments(
                        new IOException("The NameSpace quota (directories and files) of directory /d is exceeded"),
                        Errno.ENOSPC),
                arguments(
                        new IOException("File /f could only be written to 0 of the 1 minReplication nodes"),
                        Errno.ENOSPC),
                arguments(new IllegalStateException("never seen before"), Errno.EIO));
    }

    private static String readOnly(String path, String mountPoint) {
        return ExceptionMessage.MOUNT_READONLY.getMessage(path, mountPoint);
    }

    /** By gRPC's own code the server would be full. */
    @Test
    void aConnectionThatItsServerClosed_isUnanswered() {
        ResourceExhaustedException closed = new ResourceExhaustedException(
                "Connection closed after GOAWAY. HTTP/2 error code: ENHANCE_YOUR_CALM, debug data: too_many_pings");
        assertThat(ErrnoTable.of(closed)).isEqualTo(Errno.EIO);
        assertThat(ErrnoTable.isUnanswered(new IOException(closed))).isTrue();
        assertThat(ErrnoTable.isConnectionLost(closed)).isTrue();
    }

    /** It may only be slow: what recovers files asks again, and calls wait for that. */
    @Test
    void aServerThatHasNotAnsweredInTime_hasNotRefused() {
        DeadlineExceededException late = new DeadlineExceededException("deadline exceeded after 29.9s");
        StoreException failure = ErrnoTable.exception("status /a", new IOException("failed", late));
        assertThat(failure.isSilence()).isTrue();
        assertThat(failure.isOutcomeUnknown()).isTrue();
        assertThat(failure).hasRootCause(late).hasMessageContaining("status /a");
        assertThat(ErrnoTable.exception("status /a", new UnavailableException("refused"))
                        .isSilence())
                .isFalse();
    }

    /** As a worker of 2.9.3 answered that continued after its master had removed it. */
    @Test
    void aWorkerThatItsMasterHasRemoved_isUnregistered() {
        NotFoundException said = new NotFoundException("No worker with workerId 214834534081913616 is found");
        assertThat(ErrnoTable.isWorkerUnregistered(new IOException("failed", said)))
                .isTrue();
        assertThat(ErrnoTable.isWorkerUnregistered(
                        Status.NOT_FOUND.withDescription(said.getMessage()).asRuntimeException()))
                .isTrue();
        assertThat(ErrnoTable.isWorkerUnregistered(new NotFoundException("Block 5 not found")))
                .isFalse();
        assertThat(ErrnoTable.isWorkerUnregistered(new IOException(said.getMessage())))
                .isFalse();
    }

    @ParameterizedTest
    @MethodSource("classes")
    void eachExceptionHasItsErrno(Exception failure, int errno) {
        assertThat(ErrnoTable.of(failure)).isEqualTo(errno);
        assertThat(ErrnoTable.exception("work", failure).errno()).isEqualTo(errno);
    }

    /** As Alluxio's client says it where it reaches a master that does not lead, or another server: nothing was looked up there. */
    @Test
    void serviceThatIsMissing_isNoMissingFile() {
        AlluxioStatusException missing = new NotFoundException(
                "Failed after 1 attempts",
                new ServiceNotFoundException("no FileSystemMasterClient here", new IOException()));
        Exception failure = missing.toAlluxioException();
        for (Exception each : List.of(failure, missing)) {
            StoreException told = ErrnoTable.exception("status /file", each);
            assertThat(told.errno()).isEqualTo(Errno.EIO);
            assertThat(told).hasMessageContaining("addresses of all masters");
            assertThat(ErrnoTable.isUnanswered(each)).isTrue();
        }
    }

    /** No code is forgotten: what stands here is all that is not EIO. */
    @ParameterizedTest
    @EnumSource(Status.Code.class)
    void eachCodeHasItsErrno(Status.Code code) {
        int errno =
                switch (code) {
                    case NOT_FOUND -> Errno.ENOENT;
                    case ALREADY_EXISTS -> Errno.EEXIST;
                    case INVALID_ARGUMENT -> Errno.EINVAL;
                    case PERMISSION_DENIED, UNAUTHENTICATED -> Errno.EACCES;
                    case RESOURCE_EXHAUSTED -> Errno.ENOSPC;
                    case UNIMPLEMENTED -> Errno.EOPNOTSUPP;
                    default -> Errno.EIO;
                };
        AlluxioStatusException failure =
                AlluxioStatusException.from(Status.fromCode(code).withDescription("said so"));
        assertThat(ErrnoTable.of(failure)).isEqualTo(errno);
    }

    /** All failures of the under file system to delete have the code of a directory with names, as those of an HDFS in safe mode. */
    @Test
    void aDeleteThatTheUnderFileSystemRefuses_isOfNoFullDirectory() {
        FailedPreconditionException safeMode = new FailedPreconditionException(
                "Failed to delete hdfs://name:9000/f (Cannot delete /f. Name node is in safe mode.) from the under file system");
        assertThat(ErrnoTable.of(safeMode)).isEqualTo(Errno.EIO);
        assertThat(ErrnoTable.exception("delete /f", safeMode)).hasMessageContaining("Name node is in safe mode");
        for (String full : List.of(
                "Cannot delete non-empty directory /d because recursive is set to false",
                "Failed to delete /d (Directory not empty) from the under file system",
                "Failed to delete /d (`/d is non empty': Directory is not empty) from the under file system",
                "Failed to delete /d (UFS dir not in sync. Sync UFS, or delete with unchecked flag.) from the under file system")) {
            assertThat(ErrnoTable.of(new FailedPreconditionException(full)))
                    .as(full)
                    .isEqualTo(Errno.ENOTEMPTY);
        }
    }

    @Test
    void theFirstKnownCauseCounts() {
        assertThat(ErrnoTable.of(new IOException(new AccessControlException("no"))))
                .isEqualTo(Errno.EACCES);
        assertThat(ErrnoTable.of(new RuntimeException(new IOException(new FileDoesNotExistException("gone")))))
                .isEqualTo(Errno.ENOENT);
        assertThat(ErrnoTable.of(new ResourceExhaustedException("full"))).isEqualTo(Errno.ENOSPC);
        assertThat(ErrnoTable.of(new UnavailableException("no master"))).isEqualTo(Errno.EIO);
        assertThat(ErrnoTable.of(new ResourceExhaustedException("gRPC message exceeds maximum size 4194304: 5000000")))
                .isEqualTo(Errno.EIO);
    }
}
