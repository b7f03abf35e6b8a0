/** Tests of sessions on real mounts, and of what outlives a process that serves one. */
@NullMarked
package io.posixgateway.fuse.session;

import org.jspecify.annotations.NullMarked;
