/**
 * What the gateway tells Prometheus: every metric declared once in {@link GatewayMetric}, gathered when asked for.
 *
 * <p>Reading takes no lock that a request takes: it sums counters. Any thread. Imports the gateway package and the metrics
 * of fuse-core.
 */
@NullMarked
package io.posixgateway.alluxio.metrics;

import org.jspecify.annotations.NullMarked;
