/**
 * The command {@code posix-gateway}: reads its arguments, starts what they ask for, and says in one line what went wrong.
 *
 * <p>One command per process, on its main thread; a shutdown hook unmounts. Imports every other package; none imports it.
 */
@NullMarked
package io.posixgateway.alluxio.cli;

import org.jspecify.annotations.NullMarked;
