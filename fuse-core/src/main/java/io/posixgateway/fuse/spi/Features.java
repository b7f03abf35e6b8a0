package io.posixgateway.fuse.spi;

/**
 * What a session negotiated at INIT.
 *
 * @param protocolMinor the FUSE protocol is 7.minor
 * @param maxWriteBytes largest write, and largest read, the kernel sends
 * @param readdirPlus entries with attributes are asked for
 * @param passthrough opens may be answered with a backing file
 * @param writebackCache the kernel gathers writes
 * @param resend requests under way can be asked for again after a takeover
 * @param locks lock requests come to the file system
 * @param readOnly no request changes anything
 */
public record Features(
        int protocolMinor,
        int maxWriteBytes,
        boolean readdirPlus,
        boolean passthrough,
        boolean writebackCache,
        boolean resend,
        boolean locks,
        boolean readOnly) {}
