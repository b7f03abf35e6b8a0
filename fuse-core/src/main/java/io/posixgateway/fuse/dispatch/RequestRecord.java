package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.wire.Opcode;

/**
 * A request that was answered, to be kept.
 *
 * @param endedMicros when, since 1970
 * @param name the names in it as {@link io.posixgateway.fuse.spi.Name#printable}, with a blank between two; empty: none
 * @param offset of a read, a write or a listing; else -1
 * @param bytes asked for, or given, by those; else -1
 * @param handle of those; else 0
 * @param result bytes of the reply's body, or a negative errno
 * @param nanos from its coming to its answer
 */
public record RequestRecord(
        long endedMicros,
        Opcode opcode,
        long node,
        int uid,
        int gid,
        int pid,
        String name,
        long offset,
        int bytes,
        long handle,
        int result,
        long nanos) {}
