/**
 * A cache of file content on the node's disk: whole small files, and pieces of large ones, as files of their own below one folder.
 *
 * <p>A piece is of one version of one file, see {@link io.posixgateway.alluxio.nodecache.CacheKey}, and never changed: it is written under
 * a temporary name and renamed once it is complete. The index is a journal that names at least all pieces there are, each with its CRC32C.
 * Whatever fails on the disk is a miss: reads continue from Alluxio. Who serves a request asks the disk by way of {@link
 * io.posixgateway.alluxio.nodecache.TimedDisk}: he reads at once what is in memory, and waits for all else for seconds at most, if he may
 * wait at all. What is kept is written by a thread of this package.
 */
@NullMarked
package io.posixgateway.alluxio.nodecache;

import org.jspecify.annotations.NullMarked;
