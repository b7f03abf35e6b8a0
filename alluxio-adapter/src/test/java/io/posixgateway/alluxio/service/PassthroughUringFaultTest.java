package io.posixgateway.alluxio.service;

import io.posixgateway.fuse.conformance.UringSupport;
import org.junit.jupiter.api.BeforeEach;

/** The same over io_uring. */
class PassthroughUringFaultTest extends PassthroughFaultTest {
    @BeforeEach
    void needsUring() {
        UringSupport.assume();
    }

    @Override
    String transport() {
        return "uring";
    }
}
