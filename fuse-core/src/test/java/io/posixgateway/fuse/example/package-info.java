/** The example of the README, compiled, compared and run. */
@NullMarked
package io.posixgateway.fuse.example;

import org.jspecify.annotations.NullMarked;
