/**
 * One suite of what a store does, run against the store in memory ({@link
 * io.posixgateway.alluxio.store.contract.MemoryStoreContractTest}) and against Alluxio (AlluxioStoreContractIT). {@link
 * io.posixgateway.alluxio.store.contract.QuirksContract} holds the surprises; those that no test can provoke are in {@link
 * io.posixgateway.alluxio.store.contract.RecordedTracesTest}, with where they were seen.
 */
@NullMarked
package io.posixgateway.alluxio.store.contract;

import org.jspecify.annotations.NullMarked;
