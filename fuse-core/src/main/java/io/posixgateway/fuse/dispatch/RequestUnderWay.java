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
 * @param remoteNanos for how long its present call to the store behind the file system is under way; 0: none is
 * @param thread that works on it; null: it waits for one
 */
public record RequestUnderWay(
        long unique,
        Opcode opcode,
        long node,
        int pid,
        long ageNanos,
        long remoteNanos,
        @Nullable Thread thread) {}
