package io.posixgateway.fuse.dispatch;

/**
 * Most that the requests of one session may ask for, so that one session leaves the others their share. What comes sooner is
 * delayed, and never fails.
 *
 * @param bytesPerSecond of reads, writes and copies together; 0: no limit
 * @param requestsPerSecond 0: no limit
 */
public record RateLimit(long bytesPerSecond, long requestsPerSecond) {
    /** No limit. */
    public static final RateLimit NONE = new RateLimit(0, 0);

    public RateLimit {
        if (bytesPerSecond < 0 || requestsPerSecond < 0) {
            throw new IllegalArgumentException("limits are " + bytesPerSecond + " bytes/s and " + requestsPerSecond
                    + " requests/s; allowed: 0 (none) or more");
        }
    }

    /** Is there any? */
    public boolean isSet() {
        return bytesPerSecond > 0 || requestsPerSecond > 0;
    }
}
