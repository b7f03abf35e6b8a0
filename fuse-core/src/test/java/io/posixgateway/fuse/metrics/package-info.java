/** Tests of the counters. */
@NullMarked
package io.posixgateway.fuse.metrics;

import org.jspecify.annotations.NullMarked;
