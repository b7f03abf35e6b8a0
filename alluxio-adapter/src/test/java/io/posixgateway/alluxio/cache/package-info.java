/** Tests of the metadata cache. */
@NullMarked
package io.posixgateway.alluxio.cache;

import org.jspecify.annotations.NullMarked;
