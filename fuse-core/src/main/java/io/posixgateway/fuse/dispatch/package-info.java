/**
 * From a raw message to a call of the file system, and back.
 *
 * <p>{@link io.posixgateway.fuse.dispatch.Dispatcher} decodes in place, on the transport's thread; what would wait goes on
 * in the threads of {@link io.posixgateway.fuse.dispatch.BlockingPool}. A request that is answered at once allocates
 * nothing. May import the SPI, the wire numbers, the metrics, the time and the transport's interfaces.
 */
@NullMarked
package io.posixgateway.fuse.dispatch;

import org.jspecify.annotations.NullMarked;
