/**
 * A real Alluxio on this machine: masters and workers as child JVMs on loopback, for the demo, the tests and the benchmarks.
 *
 * <p>Starts processes and watches them; their classes are never on this process's class path, and nothing of
 * {@code alluxio.*} is imported here. {@link io.posixgateway.alluxio.embedded.ServerLauncher}, and what it calls, is all that runs
 * inside a child.
 */
@NullMarked
package io.posixgateway.alluxio.embedded;

import org.jspecify.annotations.NullMarked;
