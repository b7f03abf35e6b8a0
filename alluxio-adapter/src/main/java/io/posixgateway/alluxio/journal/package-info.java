/**
 * What outlives the process that serves a volume, in a folder of the volume: spool files with a record beside each, a journal of
 * what is left to do in Alluxio, and the log of nodes whose file has another id by now. The lock of the folder keeps other
 * processes away, and ends with the process that holds it.
 *
 * <p>Everything is stored by plain writes before what depends on it is answered. A killed process leaves its writes in the page
 * cache, so only unstable content is synced to disk; a node that loses power loses its mounts anyway, and what was acknowledged is
 * in Alluxio. What is not understood is kept, and what no longer counts is set aside.
 *
 * <p>A node id that the kernel knows leads back to its file: it is the file's id, unless the file's content was committed anew and
 * so has another id; then the log says which. A pair is appended before the new content takes the name, and removed when the
 * kernel forgets the node. The next process that opens a long log compacts it.
 *
 * <p>What earlier processes, or failures, left to be resolved in Alluxio is retried by one queue. Any thread, unless a class says
 * otherwise.
 */
@NullMarked
package io.posixgateway.alluxio.journal;

import org.jspecify.annotations.NullMarked;
