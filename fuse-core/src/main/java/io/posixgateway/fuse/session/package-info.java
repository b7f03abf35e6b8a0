/**
 * A mounted session: mounts, negotiates with the kernel, chooses the transport, and ends it all.
 *
 * <p>The entry of this library: {@link io.posixgateway.fuse.session.FuseSession}.
 */
@NullMarked
package io.posixgateway.fuse.session;

import org.jspecify.annotations.NullMarked;
