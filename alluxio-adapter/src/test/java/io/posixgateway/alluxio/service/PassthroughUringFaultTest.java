package io.posixgateway.alluxio.service;

/** The same over io_uring. */
class PassthroughUringFaultTest extends PassthroughFaultTest {
    @Override
    String transport() {
        return "uring";
    }
}
