/** Unit tests of extras and identities. */
@NullMarked
package io.posixgateway.alluxio.posix;

import org.jspecify.annotations.NullMarked;
