package io.posixgateway.fuse.session;

import io.posixgateway.fuse.spi.Features;

/**
 * What kernel and session agreed upon; enough for another process to go on with the connection.
 *
 * @param minor the protocol is 7.minor
 * @param flags granted INIT flags, both halves
 * @param maxWriteBytes largest read and write
 */
record Negotiated(int minor, long flags, int maxWriteBytes) {
    boolean has(InitFeature feature) {
        return feature.bits(flags) != 0;
    }

    /** @param readOnly is the session? */
    Features features(boolean readOnly) {
        return new Features(
                minor,
                maxWriteBytes,
                has(InitFeature.READDIRPLUS),
                has(InitFeature.PASSTHROUGH),
                has(InitFeature.WRITEBACK_CACHE),
                has(InitFeature.RESEND),
                has(InitFeature.LOCKS),
                readOnly);
    }
}
