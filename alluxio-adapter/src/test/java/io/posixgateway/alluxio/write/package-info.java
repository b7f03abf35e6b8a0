/** Unit tests of the write path. */
@NullMarked
package io.posixgateway.alluxio.write;

import org.jspecify.annotations.NullMarked;
