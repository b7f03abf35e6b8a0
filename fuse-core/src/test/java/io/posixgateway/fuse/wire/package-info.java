/** The wire numbers against C. */
@NullMarked
package io.posixgateway.fuse.wire;

import org.jspecify.annotations.NullMarked;
