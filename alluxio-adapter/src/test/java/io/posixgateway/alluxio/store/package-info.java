/**
 * An Alluxio in memory, and mounts of it without a kernel: logic is tested on these in milliseconds.
 *
 * <pre>{@code
 * MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
 * try (MemoryMount mount = MemoryMount.of(cluster.connect()).with("metadata_ttl", "5s").open();
 *         MemoryMount other = MemoryMount.of(cluster)) {
 *     mount.write("/file", "text");                                      // raw requests through the real dispatcher
 *     mount.faults().on(StoreCall.RENAME).loseAnswer();                  // the next rename is done, and answered with EIO
 *     cluster.clock().advance(Duration.ofSeconds(5));                    // time passes when the test says so
 *     cluster.ufs().write("/outside", bytes);                            // somebody else, behind Alluxio's back
 *     assertThat(mount.faults().count(StoreCall.STATUS)).isEqualTo(1);   // calls are counted
 *     mount.kernel().await(Notification.content(mount.lookup("/file").id()));  // what the kernel was told
 * }
 * }</pre>
 *
 * <p>That the store in memory is as Alluxio is, its surprises included, is shown by one suite that runs against both, {@link
 * io.posixgateway.alluxio.store.contract.StoreContract}. What a test needs and the store does not do is added here, with a case
 * there. Nothing of {@code alluxio.*} is imported here.
 */
@NullMarked
package io.posixgateway.alluxio.store;

import org.jspecify.annotations.NullMarked;
