package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** A port for a program under test that may be started more than once. */
public final class FreePort {
    /** Below those of embedded Alluxios, and of outgoing connections, one of which may take a port between two starts. */
    private static final int FIRST = 12_000;

    private static final int END = 20_000;
    private static final int MOST_TRIES = 100;

    private FreePort() {}

    /** Nobody listens on it now. */
    public static int find() throws IOException {
        IOException taken = new IOException();
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, END);
            try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return free.getLocalPort();
            } catch (IOException e) {
                taken = e;
            }
        }
        throw new IOException("no free port from " + FIRST + " to " + END, taken);
    }
}
