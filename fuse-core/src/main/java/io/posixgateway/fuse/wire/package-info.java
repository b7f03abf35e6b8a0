/**
 * The kernel's FUSE protocol as numbers: opcodes, sizes and offsets of its messages.
 *
 * <p>Values only, no threads. They are held against the C header by a test. Imports nothing of the project.
 */
@NullMarked
package io.posixgateway.fuse.wire;

import org.jspecify.annotations.NullMarked;
