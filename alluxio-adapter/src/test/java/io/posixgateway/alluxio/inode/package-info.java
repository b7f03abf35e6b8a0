/** Unit tests of the inode table. */
@NullMarked
package io.posixgateway.alluxio.inode;

import org.jspecify.annotations.NullMarked;
