/**
 * Changed files: their content lies in local spool files until it is committed in Alluxio.
 *
 * <p>Writing to a spool never waits for the network; making one from an existing file, and committing, do.
 */
@NullMarked
package io.posixgateway.alluxio.write;

import org.jspecify.annotations.NullMarked;
