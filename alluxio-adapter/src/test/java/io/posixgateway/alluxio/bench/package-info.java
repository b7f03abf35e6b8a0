/** The Alluxio of {@code make bench TEST=alluxio}. */
@NullMarked
package io.posixgateway.alluxio.bench;

import org.jspecify.annotations.NullMarked;
