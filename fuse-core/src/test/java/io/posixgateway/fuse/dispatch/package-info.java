/** Tests of the dispatcher without a kernel: messages are built and answers read in memory. */
@NullMarked
package io.posixgateway.fuse.dispatch;

import org.jspecify.annotations.NullMarked;
