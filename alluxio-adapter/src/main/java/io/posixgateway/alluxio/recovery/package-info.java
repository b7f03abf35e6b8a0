/**
 * What of a kept volume outlives the process that serves it, in a folder of the volume: spool files with a record beside
 * each, a journal of what is left to do in Alluxio, and the log of nodes whose file has another id by now. No other process may use the
 * folder meanwhile: the lock of the folder ends with the process that holds it.
 *
 * <p>Everything is stored by plain writes before what depends on it is answered. A killed process leaves each of its writes
 * in the page cache, so nothing is synced to disk but content in doubt; a node that loses power loses its mounts anyway, and what was
 * acknowledged is in Alluxio. What is not understood is kept, and what does not count any more is set aside.
 *
 * <p>A node id that the kernel knows leads back to its file like this: it is the file's id, unless the file's content was
 * committed anew and so has another id; then the log says which. A pair is appended before the new content takes the name,
 * and taken back when the kernel forgets the node. Pairs are as many as such nodes that the kernel knows; a log that has become
 * long is written anew with only these when the next process opens it.
 *
 * <p>What earlier processes, or failures, left to be resolved in Alluxio is retried by one queue.
 *
 * <p>Any thread, unless a class says otherwise. Imports {@code client}, {@code fuse.jni} for threads, the lock of a folder and texts of
 * errors, {@code fuse.session} for the table of mounts, and {@code fuse.time}.
 */
@NullMarked
package io.posixgateway.alluxio.recovery;

import org.jspecify.annotations.NullMarked;
