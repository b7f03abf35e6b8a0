/** The memory file system, asked without a kernel. */
@NullMarked
package io.posixgateway.fuse.memory;

import org.jspecify.annotations.NullMarked;
