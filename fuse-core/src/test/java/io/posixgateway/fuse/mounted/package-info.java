/** What a user of a mount sees, over each transport. Each test asserts from the session's line which one served it. */
@NullMarked
package io.posixgateway.fuse.mounted;

import org.jspecify.annotations.NullMarked;
