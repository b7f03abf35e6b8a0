package io.posixgateway.alluxio.cli;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.control.proto.AccessLines;
import io.posixgateway.alluxio.control.proto.FollowAccessesRequest;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Follows the requests of a volume. */
final class AccessLogReader {
    private AccessLogReader() {}

    /**
     * Gives lines to the consumer for so long.
     *
     * @return how many lines were lost, as this reader was too slow
     */
    static long follow(Target.Found found, long seconds, Consumer<List<String>> consumer) {
        long lost = 0;
        try {
            Iterator<AccessLines> batches = found.client()
                    .streams()
                    .withDeadlineAfter(seconds, TimeUnit.SECONDS)
                    .followAccesses(FollowAccessesRequest.newBuilder()
                            .setVolume(found.volume().getVolume())
                            .build());
            while (batches.hasNext()) {
                AccessLines batch = batches.next();
                lost = batch.getDropped();
                consumer.accept(batch.getLinesList());
            }
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() != Status.Code.DEADLINE_EXCEEDED) {
                throw found.client().explained(e);
            }
        }
        return lost;
    }
}
