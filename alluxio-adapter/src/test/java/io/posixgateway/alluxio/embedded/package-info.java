/** Tests of the embedded Alluxio itself. */
@NullMarked
package io.posixgateway.alluxio.embedded;

import org.jspecify.annotations.NullMarked;
