/**
 * Sessions, volumes, takeovers and budgets of a gateway process, and its client of the keeper.
 *
 * <p>Each class says which threads may call it.
 */
@NullMarked
package io.posixgateway.alluxio.gateway;

import org.jspecify.annotations.NullMarked;
