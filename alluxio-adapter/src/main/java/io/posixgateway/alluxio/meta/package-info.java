/**
 * Inodes, names, attributes and listings: what is cached of Alluxio's files, for how long, and what the kernel is notified of.
 *
 * <p>A node's id is Alluxio's file id plus two (ids begin at zero, and FUSE keeps 0 and 1 for itself); the root is 1. One
 * generation counter says whether a response is older than a change made here. Methods that send requests wait and throw
 * {@code StoreException}; the others never wait. One thread writes the invalidations to the kernel.
 */
@NullMarked
package io.posixgateway.alluxio.meta;

import org.jspecify.annotations.NullMarked;
