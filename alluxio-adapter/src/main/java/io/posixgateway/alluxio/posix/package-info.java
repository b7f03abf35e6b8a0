/**
 * What Alluxio's model of a file lacks, kept in one versioned extended attribute; and who users and groups are.
 *
 * <p>No threads of its own, imports nothing of Alluxio.
 */
@NullMarked
package io.posixgateway.alluxio.posix;

import org.jspecify.annotations.NullMarked;
