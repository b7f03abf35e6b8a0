/** Tests of {@link io.posixgateway.fuse.path}. */
@NullMarked
package io.posixgateway.fuse.path;

import org.jspecify.annotations.NullMarked;
