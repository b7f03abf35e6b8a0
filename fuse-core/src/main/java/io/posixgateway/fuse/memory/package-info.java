/**
 * A complete POSIX file system in the heap: the reference implementation of the SPI, and what tests mount.
 *
 * <p>{@link io.posixgateway.fuse.memory.MemoryFileSystem} says how its parts are locked. Any thread, nothing waits. May
 * import the SPI and the time alone.
 */
@NullMarked
package io.posixgateway.fuse.memory;

import org.jspecify.annotations.NullMarked;
