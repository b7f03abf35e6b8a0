/** Tests of the way Alluxio's client is used. */
@NullMarked
package io.posixgateway.alluxio.client;

import org.jspecify.annotations.NullMarked;
