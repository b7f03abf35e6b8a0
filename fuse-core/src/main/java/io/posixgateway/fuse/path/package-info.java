/**
 * For authors who think in paths: {@link io.posixgateway.fuse.path.PathFileSystem} keeps the kernel's node ids for them.
 *
 * <p>Author's methods run on the hand-over pool's threads, many at once, and may wait. May import the SPI alone.
 */
@NullMarked
package io.posixgateway.fuse.path;

import org.jspecify.annotations.NullMarked;
