/**
 * The gateway as a process: puts volumes, control API and metrics together, and leads or waits as a standby.
 */
@NullMarked
package io.posixgateway.alluxio.serve;

import org.jspecify.annotations.NullMarked;
