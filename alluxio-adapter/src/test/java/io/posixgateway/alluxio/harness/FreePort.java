package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A port for a program under test that may be started more than once. No other test of this host takes it meanwhile: the port below it is
 * held, and who holds that has both.
 */
public final class FreePort implements AutoCloseable {
    /** Below those of embedded Alluxios, and of outgoing connections, one of which may take a port between two starts. */
    private static final int FIRST = 12_000;

    private static final int PAIRS = 4_000;
    private static final int MAX_TRIES = 100;

    private final ServerSocket held;

    private FreePort(ServerSocket held) {
        this.held = held;
    }

    /** One on which nobody listens now. */
    public static FreePort take() throws IOException {
        IOException taken = new IOException();
        for (int tries = 0; tries < MAX_TRIES; tries++) {
            int port = FIRST + 2 * ThreadLocalRandom.current().nextInt(PAIRS);
            try {
                return take(port);
            } catch (IOException e) {
                taken = e;
            }
        }
        throw new IOException("no free port from " + FIRST + " to " + (FIRST + 2 * PAIRS), taken);
    }

    private static FreePort take(int below) throws IOException {
        ServerSocket held = listen(below);
        try {
            listen(below + 1).close();
            return new FreePort(held);
        } catch (IOException e) {
            held.close();
            throw e;
        }
    }

    private static ServerSocket listen(int port) throws IOException {
        return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
    }

    public int number() {
        return held.getLocalPort() + 1;
    }

    @Override
    public void close() {
        try {
            held.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
