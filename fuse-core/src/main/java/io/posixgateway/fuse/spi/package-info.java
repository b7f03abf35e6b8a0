/**
 * What a file system is to this library: {@link io.posixgateway.fuse.spi.FileSystem} and the values it answers with.
 *
 * <p>Everything here is called from the threads of a transport or of the hand-over pool, many at once. The reply objects
 * (Entry, Attributes, OpenReply, …) and the buffers belong to the request: they are lent for the time of the call and are
 * used again for the next one. Imports nothing of the project.
 */
@NullMarked
package io.posixgateway.fuse.spi;

import org.jspecify.annotations.NullMarked;
