/**
 * Options of a mount: each declared once (name, allowed values, default, doc), read from {@code -o} texts and from attach
 * requests by the same rules, and printed as a table of the documentation.
 *
 * <p>Plain values without threads; imports nothing of the project.
 */
@NullMarked
package io.posixgateway.alluxio.options;

import org.jspecify.annotations.NullMarked;
