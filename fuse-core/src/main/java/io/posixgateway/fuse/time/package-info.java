/**
 * What time it is, and waiting until it has passed. Only {@link SystemClock} asks the machine; all else is given a
 * {@link Clock}. Imports nothing of this library.
 */
@NullMarked
package io.posixgateway.fuse.time;

import org.jspecify.annotations.NullMarked;
