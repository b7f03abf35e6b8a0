/**
 * The border to Alluxio: {@link io.posixgateway.alluxio.client.Store} in neutral types, and its implementation.
 *
 * <p>The only package that imports {@code alluxio.*}. Every method may wait for the network and is called on threads where
 * that is allowed; failures are {@link io.posixgateway.alluxio.client.StoreException}s that carry an errno from the one
 * table.
 */
@NullMarked
package io.posixgateway.alluxio.client;

import org.jspecify.annotations.NullMarked;
