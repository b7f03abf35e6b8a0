/** Tests of the metadata cache. */
@NullMarked
package io.posixgateway.alluxio.meta;

import org.jspecify.annotations.NullMarked;
