/** Tests of the transports by themselves, without a mount. */
@NullMarked
package io.posixgateway.fuse.transport;

import org.jspecify.annotations.NullMarked;
