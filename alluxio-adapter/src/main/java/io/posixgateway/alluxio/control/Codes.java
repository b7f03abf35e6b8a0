package io.posixgateway.alluxio.control;

import io.grpc.Status;
import io.posixgateway.alluxio.gateway.ServiceException;
import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.fuse.time.Supervised;

/** The gRPC code of every failure. */
final class Codes {
    private Codes() {}

    /** What nobody expected is INTERNAL and logged here; all else is told to the caller alone. */
    static Status statusOf(Throwable failure) {
        if (failure instanceof OptionException) {
            return Status.INVALID_ARGUMENT.withDescription(failure.getMessage());
        }
        if (!(failure instanceof ServiceException known)) {
            Supervised.failed("A control call", failure);
            return Status.INTERNAL.withDescription(failure.toString());
        }
        Status status =
                switch (known.kind()) {
                    case INVALID -> Status.INVALID_ARGUMENT;
                    case NOT_FOUND -> Status.NOT_FOUND;
                    case EXISTS -> Status.ALREADY_EXISTS;
                    case DENIED -> Status.PERMISSION_DENIED;
                    case UNAVAILABLE, SERVED_ELSEWHERE, ENDING -> Status.UNAVAILABLE;
                    case PRECONDITION -> Status.FAILED_PRECONDITION;
                    case ABORTED -> Status.ABORTED;
                };
        return status.withDescription(known.getMessage());
    }
}
