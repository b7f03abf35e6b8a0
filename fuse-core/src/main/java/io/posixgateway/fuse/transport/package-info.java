/**
 * How raw messages travel between the kernel and the dispatcher: libfuse 2.9, /dev/fuse, FUSE-over-io_uring.
 *
 * <p>A transport owns threads and buffers, knows slots and system calls, and decodes nothing but where a message lies. May
 * import the native layer, the metrics and the time; nothing of the dispatcher.
 */
@NullMarked
package io.posixgateway.fuse.transport;

import org.jspecify.annotations.NullMarked;
