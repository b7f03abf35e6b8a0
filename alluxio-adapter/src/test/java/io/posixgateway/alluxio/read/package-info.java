/** Unit tests of the read paths. */
@NullMarked
package io.posixgateway.alluxio.read;

import org.jspecify.annotations.NullMarked;
