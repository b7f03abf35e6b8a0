/**
 * What a session counts: requests, errors, latencies, workers, bytes.
 *
 * <p>Recording takes no lock and allocates nothing, from any thread; reading gives sums that may be a moment old. May import
 * the packages wire and time alone.
 */
@NullMarked
package io.posixgateway.fuse.metrics;

import org.jspecify.annotations.NullMarked;
