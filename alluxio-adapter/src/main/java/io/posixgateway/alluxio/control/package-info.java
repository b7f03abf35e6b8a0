/**
 * The control API: the server that answers the requests of control.proto on a Unix socket.
 *
 * <p>Calls run on bounded threads of their own, those that may wait apart from the others; the work is done by {@code gateway}, whose
 * failures become gRPC codes in one place.
 */
@NullMarked
package io.posixgateway.alluxio.control;

import org.jspecify.annotations.NullMarked;
