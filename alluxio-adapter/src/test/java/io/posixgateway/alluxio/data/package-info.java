/** Unit tests of the read paths. */
@NullMarked
package io.posixgateway.alluxio.data;

import org.jspecify.annotations.NullMarked;
