/**
 * The control API: the generated messages of control.proto, and the server that answers them on a Unix socket.
 *
 * <p>Calls run on a bounded pool of their own; the work is done by the service package, whose failures become gRPC codes
 * in one place.
 */
@NullMarked
package io.posixgateway.alluxio.control;

import org.jspecify.annotations.NullMarked;
