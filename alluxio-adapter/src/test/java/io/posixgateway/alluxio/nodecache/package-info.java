/** Unit tests of the data cache on the node. */
@NullMarked
package io.posixgateway.alluxio.nodecache;

import org.jspecify.annotations.NullMarked;
