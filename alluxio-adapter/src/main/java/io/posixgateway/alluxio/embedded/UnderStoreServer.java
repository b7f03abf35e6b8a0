package io.posixgateway.alluxio.embedded;

import java.io.IOException;
import java.util.Map;

/** A server on loopback that Alluxio's root stands on. */
interface UnderStoreServer extends UnderStoreClient {
    /** The server, to be killed, stopped and started. */
    ServerProcess process();

    /** Returns once the started server takes files. */
    void awaitReady(long deadlineNanos) throws IOException;

    /** What Alluxio needs to know to have it as its root. */
    Map<String, String> alluxioProperties();
}
