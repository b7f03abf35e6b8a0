/**
 * The border to libpgw.so: the only package with native methods.
 *
 * <p>Natives take and give numbers, addresses and direct buffers; they answer negative errnos and decode nothing. Those that
 * receive messages block; all are safe on any thread. Imports nothing of the project.
 */
@NullMarked
package io.posixgateway.fuse.jni;

import org.jspecify.annotations.NullMarked;
