package io.posixgateway.alluxio.client;

import alluxio.exception.AccessControlException;
import alluxio.exception.AlluxioException;
import alluxio.exception.BlockAlreadyExistsException;
import alluxio.exception.BusyException;
import alluxio.exception.DirectoryNotEmptyException;
import alluxio.exception.FileAlreadyCompletedException;
import alluxio.exception.FileAlreadyExistsException;
import alluxio.exception.FileDoesNotExistException;
import alluxio.exception.FileIncompleteException;
import alluxio.exception.InvalidFileSizeException;
import alluxio.exception.InvalidPathException;
import alluxio.exception.OpenDirectoryException;
import alluxio.exception.ServiceNotFoundException;
import alluxio.exception.status.AlluxioStatusException;
import alluxio.shaded.client.io.grpc.Status;
import alluxio.shaded.client.io.grpc.StatusException;
import alluxio.shaded.client.io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.FileNotFoundException;
import java.net.ConnectException;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The one table from Alluxio's exceptions, and gRPC's codes, to errno; what it does not know is EIO. */
final class ErrnoTable {
    private static final Map<Class<? extends Exception>, Integer> BY_CLASS = new LinkedHashMap<>();

    static {
        BY_CLASS.put(FileDoesNotExistException.class, Errno.ENOENT);
        BY_CLASS.put(FileNotFoundException.class, Errno.ENOENT);
        BY_CLASS.put(FileAlreadyExistsException.class, Errno.EEXIST);
        BY_CLASS.put(BlockAlreadyExistsException.class, Errno.EIO);
        BY_CLASS.put(DirectoryNotEmptyException.class, Errno.ENOTEMPTY);
        BY_CLASS.put(AccessControlException.class, Errno.EACCES);
        BY_CLASS.put(FileIncompleteException.class, Errno.EBUSY);
        BY_CLASS.put(FileAlreadyCompletedException.class, Errno.EBUSY);
        BY_CLASS.put(BusyException.class, Errno.EBUSY);
        BY_CLASS.put(OpenDirectoryException.class, Errno.EISDIR);
        BY_CLASS.put(InvalidPathException.class, Errno.EINVAL);
        BY_CLASS.put(InvalidFileSizeException.class, Errno.EFBIG);
    }

    /** The master's words, which the worker passes on; ExceptionMessage.NO_WORKER_FOUND of all 2.x. */
    private static final String UNREGISTERED = "No worker with workerId";

    /** What these say is plain. The text has the path, which may have the words of another failure in it. */
    private static final Set<Status.Code> SAID =
            EnumSet.of(Status.Code.NOT_FOUND, Status.Code.ALREADY_EXISTS, Status.Code.PERMISSION_DENIED);

    private static final Set<Status.Code> DENIED = EnumSet.of(Status.Code.PERMISSION_DENIED);

    private static final Set<Status.Code> LOST_CONNECTION = EnumSet.of(
            Status.Code.UNAVAILABLE,
            Status.Code.DEADLINE_EXCEEDED,
            Status.Code.CANCELLED,
            Status.Code.UNAUTHENTICATED,
            Status.Code.UNIMPLEMENTED);

    /** So is this, but for a rename between two under file systems. */
    private static final Set<Status.Code> INVALID = EnumSet.of(Status.Code.INVALID_ARGUMENT);

    private static final Set<Status.Code> UNMET = EnumSet.of(Status.Code.FAILED_PRECONDITION);

    private static final String LOGIN_ADVICE =
            " (Alluxio does not accept the login: check the mount's user and its credentials, and that"
                    + " alluxio.security.authentication.type is that of the master; whom a user may impersonate is set for the master, in"
                    + " alluxio.master.security.impersonation.<user>.users)";

    private ErrnoTable() {}

    /** The errno, positive, of the first in the chain of causes that the table knows. */
    static int of(Throwable failure) {
        if (isServiceMissing(failure)) {
            return Errno.EIO; // the exceptions around it are those of a missing file
        }
        for (Throwable at = failure; at != null; at = at.getCause()) {
            int errno = ofOne(at);
            if (errno != Errno.EIO) {
                return errno;
            }
        }
        return Errno.EIO;
    }

    private static boolean hasCause(Throwable failure, Predicate<Throwable> wanted) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (wanted.test(at)) {
                return true;
            }
        }
        return false;
    }

    /** Was a server reached that does not have the service, such as a master that is no leader: so nothing was asked? */
    private static boolean isServiceMissing(Throwable failure) {
        return hasCause(failure, ServiceNotFoundException.class::isInstance);
    }

    private static int ofOne(Throwable failure) {
        if (isOfReadOnlyMount(failure)) {
            return Errno.EROFS;
        }
        if (hasCode(failure, SAID)) {
            return ofCode(((AlluxioStatusException) failure).getStatusCode());
        }
        String message = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
        Integer known = ofWords(failure, message);
        if (known != null) {
            return known;
        }
        Status.Code code = failure instanceof AlluxioStatusException ? codeOf(failure) : null;
        if (code != null) {
            return ofCode(code);
        }
        if (failure instanceof AlluxioException && message.contains("permission denied")) {
            return Errno.EACCES;
        }
        return Errno.EIO;
    }

    /** By its class or by what it says, in small letters, where its code says too little; null: by neither. */
    private static @Nullable Integer ofWords(Throwable failure, String message) {
        if (message.contains("is a cross mount operation")) {
            return Errno.EXDEV;
        }
        Integer known = BY_CLASS.get(failure.getClass());
        if (known != null) {
            return known;
        }
        if (!hasCode(failure, INVALID) && isFull(message)) {
            return Errno.ENOSPC;
        }
        if (message.contains("message exceeds maximum size")) {
            return Errno.EIO; // gRPC's own limit has the code of a full worker
        }
        if (hasCode(failure, UNMET) && isNotEmpty(message)) {
            return Errno.ENOTEMPTY;
        }
        return null;
    }

    private static boolean hasCode(Throwable failure, Set<Status.Code> codes) {
        return failure instanceof AlluxioStatusException status && codes.contains(status.getStatusCode());
    }

    /** By the words of ExceptionMessage.MOUNT_READONLY of all 2.x. */
    private static boolean isOfReadOnlyMount(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        return (failure instanceof AccessControlException || hasCode(failure, DENIED))
                && message.startsWith("A write operation on ")
                && message.contains(" under a readonly mount point ");
    }

    /**
     * By the words of all 2.x, and of HDFS: a directory has names, in Alluxio or in the under file system. With the same code come all failures of
     * the under file system to delete.
     */
    private static boolean isNotEmpty(String message) {
        return message.contains("cannot delete non-empty directory")
                || message.contains("directory not empty")
                || message.contains("directory is not empty")
                || message.contains("ufs dir not in sync");
    }

    private static boolean isFull(String message) {
        return message.contains("no space left")
                || message.contains("not enough space")
                || message.contains("out of space")
                || isFullHdfs(message);
    }

    /** By the words of HDFS: a quota is used up, or no data node has room. */
    private static boolean isFullHdfs(String message) {
        boolean quota =
                message.contains("space quota of ") || message.contains("space quota (directories and files) of ");
        return (quota && message.contains(" is exceeded")) || message.contains("minreplication nodes");
    }

    private static int ofCode(Status.Code code) {
        return switch (code) {
            case NOT_FOUND -> Errno.ENOENT;
            case ALREADY_EXISTS -> Errno.EEXIST;
            case INVALID_ARGUMENT -> Errno.EINVAL;
            case PERMISSION_DENIED, UNAUTHENTICATED -> Errno.EACCES;
            case RESOURCE_EXHAUSTED -> Errno.ENOSPC;
            case UNIMPLEMENTED -> Errno.EOPNOTSUPP;
            default -> Errno.EIO;
        };
    }

    /** Is this the failure of a call whose server could not be reached, or did not answer in time? */
    static boolean isUnanswered(Throwable failure) {
        return isServiceMissing(failure)
                || hasCause(failure, at -> {
                    Status.Code code = codeOf(at);
                    return code == Status.Code.UNAVAILABLE
                            || code == Status.Code.DEADLINE_EXCEEDED
                            || code == Status.Code.CANCELLED;
                });
    }

    /** True if the call's connection may be broken, or its server is another one by now, or does not know it any more. */
    static boolean isConnectionLost(Throwable failure) {
        return hasCause(failure, at -> {
            Status.Code code = codeOf(at);
            return code != null && LOST_CONNECTION.contains(code);
        });
    }

    /** True if the server's host answered that no process has its port. */
    static boolean isNobodyListening(Throwable failure) {
        return hasCause(
                failure,
                at -> at instanceof ConnectException
                        && String.valueOf(at.getMessage()).contains("Connection refused"));
    }

    /** Did the server say that it does not do it: so it answered? */
    static boolean isRefused(Throwable failure) {
        return hasCause(failure, at -> codeOf(at) != null) && !isConnectionLost(failure);
    }

    /**
     * Is this the failure of a worker that its master has removed, such as one that was stopped for longer than
     * alluxio.master.worker.timeout? The master refuses its blocks until its next heartbeat, within a second, registers it again.
     */
    static boolean isWorkerUnregistered(Throwable failure) {
        return hasCause(
                failure,
                at -> codeOf(at) == Status.Code.NOT_FOUND
                        && String.valueOf(at.getMessage()).contains(UNREGISTERED));
    }

    /** UNAVAILABLE also where the server closed the connection as it had too many pings, which gRPC gives the code of a full one. */
    static Status.@Nullable Code codeOf(Throwable failure) {
        Status.Code code = ownCode(failure);
        boolean isClosed = code == Status.Code.RESOURCE_EXHAUSTED
                && String.valueOf(failure.getMessage()).contains("Connection closed after GOAWAY");
        return isClosed ? Status.Code.UNAVAILABLE : code;
    }

    private static Status.@Nullable Code ownCode(Throwable failure) {
        if (failure instanceof AlluxioStatusException alluxio) {
            return alluxio.getStatusCode();
        }
        if (failure instanceof StatusRuntimeException grpc) {
            return grpc.getStatus().getCode();
        }
        return failure instanceof StatusException grpc ? grpc.getStatus().getCode() : null;
    }

    static StoreException exception(String what, Throwable failure) {
        String advice = isServiceMissing(failure)
                ? " (the server there is not a leading master or a worker of Alluxio: give the addresses of all"
                        + " masters, and check their ports)"
                : "";
        String text = what + ": " + failure + advice;
        int errno = of(failure);
        if (errno == Errno.EACCES && hasCause(failure, at -> codeOf(at) == Status.Code.UNAUTHENTICATED)) {
            return StoreException.loginRefused(text + LOGIN_ADVICE, failure);
        }
        return errno == Errno.EIO && isSlow(failure)
                ? StoreException.silence(text, failure)
                : new StoreException(errno, text, failure);
    }

    /** Was a server reached that had not answered when the time of the call was over? */
    private static boolean isSlow(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (codeOf(at) == Status.Code.DEADLINE_EXCEEDED) {
                return true;
            }
        }
        return false;
    }
}
