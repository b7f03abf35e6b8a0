/** Tests on a real Alluxio, shared by all of them, mostly through real mounts. */
@NullMarked
package io.posixgateway.alluxio.mounted;

import org.jspecify.annotations.NullMarked;
