package io.posixgateway.alluxio.simulation;

import io.posixgateway.fuse.spi.Errno;
import java.util.Map;
import java.util.Set;

/**
 * What comes of a step.
 *
 * @param errno 0: it succeeded
 * @param content that was read
 * @param attributes that were shown
 */
record Outcome(int errno, String content, Map<String, String> attributes) {
    /** Failures that say what there is. */
    private static final Set<Integer> DEFINITE = Set.of(Errno.ENOENT, Errno.EEXIST, Errno.ENOTEMPTY, Errno.ENOTDIR);

    Outcome(int errno, String content) {
        this(errno, content, Map.of());
    }

    boolean succeeds() {
        return errno == 0;
    }

    /** Does it fail in a way that says what there is? */
    boolean isDefinite() {
        return DEFINITE.contains(errno);
    }
}
