package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.conformance.UringSupport;

/** The same over io_uring; skipped where that cannot be had. */
class OpenFilesUringFaultTest extends OpenFilesFaultTest {
    @Override
    String transport() {
        UringSupport.assume();
        return "uring";
    }
}
