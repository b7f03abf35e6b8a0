/**
 * The interface to an Alluxio, in neutral types. Implemented by {@code client} for the real one, and by the tests in memory; one
 * contract suite holds both to it.
 *
 * <p>Every method may wait for the network and is called on threads where that is allowed. Failures are
 * {@link io.posixgateway.alluxio.store.StoreException}s that carry an errno.
 */
@NullMarked
package io.posixgateway.alluxio.store;

import org.jspecify.annotations.NullMarked;
