/**
 * What is believed of Alluxio's files, and for how long: looks, listings, freshness, and word to the kernel of what changed.
 *
 * <p>Methods that ask Alluxio wait and throw {@code StoreException}; the others never wait. One thread of its own tells the
 * kernel. Imports {@code client}, {@code inode}, {@code posix} and the SPI.
 */
@NullMarked
package io.posixgateway.alluxio.cache;

import org.jspecify.annotations.NullMarked;
