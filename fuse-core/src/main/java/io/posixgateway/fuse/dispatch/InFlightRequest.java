package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.wire.Opcode;
import org.jspecify.annotations.Nullable;

/**
 * A request that is not answered yet, as it was at one moment.
 *
 * @param unique the kernel's number of it
 * @param node what it is about
 * @param pid who asked; 0: not known here
 * @param ageNanos since it came
 * @param callerInterrupted the program got a signal while it waits; a killed one cannot end before the answer
 * @param remoteNanos for how long its present call to the store behind the file system is under way; 0: none is
 * @param unlimited may that call take as long as it takes?
 * @param thread that works on it; null: it waits for one
 */
public record InFlightRequest(
        long unique,
        Opcode opcode,
        long node,
        int pid,
        boolean callerInterrupted,
        long ageNanos,
        long remoteNanos,
        boolean unlimited,
        @Nullable Thread thread) {}
