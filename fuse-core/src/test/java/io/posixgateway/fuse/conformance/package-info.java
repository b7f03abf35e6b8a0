/**
 * What a mounted file system must do, whichever it is: for the tests of this module and of those that build on it.
 *
 * <p>{@link io.posixgateway.fuse.conformance.ConformanceSuite} runs the cases of {@code src/test/resources/conformance}
 * in a mounted directory; {@link io.posixgateway.fuse.conformance.MountedFileSystem} mounts and always unmounts.
 */
@NullMarked
package io.posixgateway.fuse.conformance;

import org.jspecify.annotations.NullMarked;
