package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A way to a server that can be stopped: connections stay, and new ones are taken, but nothing comes through. */
public final class StoppableProxy implements AutoCloseable {
    private static final long FIRST_BYTES = 1000;
    private static final int PIECE_BYTES = 256 << 10;

    private final ServerSocket listener;
    private final String host;
    private final int port;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final Object gate = new Object();
    private boolean stopped;
    /** So many pieces come through until it stops. */
    private long left = Long.MAX_VALUE;

    private volatile boolean losing;
    private volatile boolean cutting;

    /** @param target "host:port" */
    public StoppableProxy(String target) throws IOException {
        this("127.0.0.1:0", target);
    }

    /**
     * A way that begins at an address of its own.
     *
     * @param address "host:port"
     */
    public StoppableProxy(String address, String target) throws IOException {
        int colon = target.lastIndexOf(':');
        host = target.substring(0, colon);
        port = Integer.parseInt(target.substring(colon + 1));
        int end = address.lastIndexOf(':');
        InetAddress own = InetAddress.getByName(address.substring(0, end));
        listener = new ServerSocket(Integer.parseInt(address.substring(end + 1)), 500, own);
        run(this::accept);
    }

    /** "host:port" of the way. */
    public String address() {
        return listener.getInetAddress().getHostAddress() + ":" + listener.getLocalPort();
    }

    public void stop() {
        synchronized (gate) {
            stopped = true;
        }
    }

    /** {@link #stop} once so many pieces of what is sent, or answered, have come through. */
    public void stopAfter(long pieces) {
        synchronized (gate) {
            left = pieces;
        }
    }

    public boolean isStopped() {
        synchronized (gate) {
            return stopped;
        }
    }

    /** From now on what the target answers is lost, and the connection with it; what it is sent still arrives. */
    public void loseAnswers() {
        losing = true;
    }

    /** Of the connections made from now on only the first bytes of answers come through; they stay. */
    public void cutAnswers() {
        cutting = true;
    }

    /** What is made, or comes, from now on is as it should be. */
    public void go() {
        losing = false;
        cutting = false;
        synchronized (gate) {
            stopped = false;
            left = Long.MAX_VALUE;
            gate.notifyAll();
        }
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    private static void run(Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException | InterruptedException closed) {
                        // The proxy, or one side of a connection, has ended.
                    }
                },
                "proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            Socket server = new Socket(host, port);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            sockets.add(client);
            sockets.add(server);
            run(() -> carry(client, server, false, Long.MAX_VALUE));
            long most = cutting ? FIRST_BYTES : Long.MAX_VALUE;
            run(() -> carry(server, client, true, most));
        }
    }

    private void carry(Socket from, Socket to, boolean answers, long limit) throws IOException, InterruptedException {
        long most = limit;
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] bytes = new byte[PIECE_BYTES];
            for (int count = in.read(bytes); count >= 0 && !(answers && losing); count = in.read(bytes)) {
                awaitTurn();
                out.write(bytes, 0, (int) Math.min(count, most));
                most -= Math.min(count, most);
            }
        }
    }

    /** Of one piece. */
    private void awaitTurn() throws InterruptedException {
        synchronized (gate) {
            stopped |= left-- == 0;
            while (stopped) {
                gate.wait();
            }
        }
    }

    @Override
    public void close() throws IOException {
        go();
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
