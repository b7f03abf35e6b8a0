/** The Alluxio of {@code make bench-alluxio}. */
@NullMarked
package io.posixgateway.alluxio.bench;

import org.jspecify.annotations.NullMarked;
