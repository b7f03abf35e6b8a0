/**
 * Files and directories by node id: who they are, where they are in the tree, what was last seen of them.
 *
 * <p>A node's id is Alluxio's file id plus two (ids begin at zero, and FUSE keeps 0 and 1 for itself); the root is 1. Any
 * thread; nothing here waits. Imports the SPI, and the neutral types of {@code client}.
 */
@NullMarked
package io.posixgateway.alluxio.inode;

import org.jspecify.annotations.NullMarked;
