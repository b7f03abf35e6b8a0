package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.time.Instant;

/** Makes records of requests, on the thread that is about to answer. Allocates; used only while somebody listens. */
final class Recorder {
    private static final int MICROS = 1_000_000;

    private Recorder() {}

    static RequestRecord record(Call call, int result, long nanos, Instant now) {
        boolean placed = hasPlace(call.opcode) && call.complete();
        return new RequestRecord(
                now.getEpochSecond() * MICROS + now.getNano() / 1000,
                call.opcode,
                call.node,
                call.uid(),
                call.gid(),
                call.pid(),
                call.namesTaken() ? names(call) : "",
                placed ? call.int64(Layouts.READ_IN_OFFSET) : -1,
                placed ? call.int32(Layouts.READ_IN_SIZE) : -1,
                placed ? call.int64(Layouts.READ_IN_FH) : 0,
                result,
                nanos);
    }

    /** These have the handle, the offset and the size at the same places. */
    private static boolean hasPlace(Opcode opcode) {
        return switch (opcode) {
            case READ, WRITE, READDIR, READDIRPLUS -> true;
            default -> false;
        };
    }

    private static String names(Call call) {
        Name second = call.secondName();
        return second == null ? call.name.printable() : call.name.printable() + " " + second.printable();
    }
}
