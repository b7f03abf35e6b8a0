package io.posixgateway.alluxio.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;
import java.util.Random;

/**
 * Ports that no other embedded Alluxio on this host takes: who holds the first of a range has all of it. They are outside the
 * range that the kernel gives to outgoing connections. For one thread at a time.
 */
final class PortRange implements AutoCloseable {
    private static final int FIRST = 20_000;
    private static final int RANGES = 400;
    private static final int PORTS = 30;
    private static final int MAX_TRIES = 100;

    private final ServerSocket held;
    private int last;

    private PortRange(ServerSocket held) {
        this.held = held;
        this.last = held.getLocalPort();
    }

    static PortRange take() throws IOException {
        Random random = new SecureRandom();
        IOException taken = new IOException();
        for (int tries = 0; tries < MAX_TRIES; tries++) {
            int first = FIRST + PORTS * random.nextInt(RANGES);
            try {
                return new PortRange(new ServerSocket(first, 1, InetAddress.getLoopbackAddress()));
            } catch (IOException e) {
                taken = e;
            }
        }
        throw new IOException("No free range of ports from " + FIRST + " on", taken);
    }

    /** The next port that nobody listens on, on whatever address. */
    int next() throws IOException {
        int end = held.getLocalPort() + PORTS;
        while (++last < end) {
            if (isFree(last)) {
                return last;
            }
        }
        throw new IOException("No free port is left before " + end);
    }

    /** So many of them. */
    int[] next(int count) throws IOException {
        int[] ports = new int[count];
        for (int i = 0; i < count; i++) {
            ports[i] = next();
        }
        return ports;
    }

    private static boolean isFree(int port) {
        try (ServerSocket free = new ServerSocket(port)) {
            return free.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        try {
            held.close();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
