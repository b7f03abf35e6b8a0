package io.posixgateway.alluxio.service;

/** The same over io_uring. */
class OpenFilesUringFaultTest extends OpenFilesFaultTest {
    @Override
    String transport() {
        return "uring";
    }
}
