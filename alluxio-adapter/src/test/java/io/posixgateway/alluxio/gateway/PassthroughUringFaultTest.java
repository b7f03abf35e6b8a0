package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.conformance.UringSupport;

/** The same over io_uring; skipped where that cannot be had. */
class PassthroughUringFaultTest extends PassthroughFaultTest {
    @Override
    String transport() {
        UringSupport.assume();
        return "uring";
    }
}
