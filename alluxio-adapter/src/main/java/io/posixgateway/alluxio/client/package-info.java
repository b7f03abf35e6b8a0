/**
 * {@link io.posixgateway.alluxio.store.Store} on a real Alluxio: channels, calls with deadlines, streams, leaders, the health of
 * workers, and what is odd about servers.
 *
 * <p>The only package that imports {@code alluxio.*}. Errnos come from one table.
 */
@NullMarked
package io.posixgateway.alluxio.client;

import org.jspecify.annotations.NullMarked;
