/** A clock for tests. */
@NullMarked
package io.posixgateway.fuse.time;

import org.jspecify.annotations.NullMarked;
