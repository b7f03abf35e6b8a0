package io.posixgateway.alluxio.embedded;

import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One server as a child JVM, which can be killed, paused and started again. Not for several threads at once.
 *
 * <p>The child ends when its standard input does; so the pipe to it is held open as long as it is to live.
 */
public final class ServerProcess {
    static final long POLL_MILLIS = 50;
    private static final int ANSWER_MILLIS = 1000;
    /** How a client of HTTP/2 begins: the preface, and a frame of no settings. */
    private static final byte[] HELLO =
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0".getBytes(StandardCharsets.ISO_8859_1);

    private final String name;
    private final List<String> command;
    private final Path log;
    private final InetSocketAddress address;
    private volatile @Nullable Process process;

    ServerProcess(String name, List<String> command, Path log, InetSocketAddress address) {
        this.name = name;
        this.command = List.copyOf(command);
        this.log = log;
        this.address = address;
    }

    /** "master", or "master1", …, "worker1", …, "job-master", "job-worker", "s3", "hdfs". */
    public String name() {
        return name;
    }

    /** The port that it opens last: a master's for RPC, a worker's for the web, which follows its registration. */
    public InetSocketAddress address() {
        return address;
    }

    /** "127.0.0.1:port". */
    public String hostAndPort() {
        return address.getHostString() + ":" + address.getPort();
    }

    /** What it wrote to its standard output and error. */
    public Path log() {
        return log;
    }

    public boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** Starts it, or starts it again with what it had. Returns at once: see {@link EmbeddedAlluxio#awaitReady}. */
    public void start() throws IOException {
        if (isAlive()) {
            throw new IllegalStateException(name + " runs already");
        }
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }

    /** Ends it at once, as kill -9 does, and waits for its end. */
    public void kill() {
        Process running = process;
        if (running == null) {
            return;
        }
        running.destroyForcibly();
        boolean interrupted = false;
        while (true) {
            try {
                running.waitFor();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Stops it in its tracks (SIGSTOP): connections stay, answers do not come. */
    public void pause() throws IOException {
        signal("-STOP");
    }

    /** Lets it go on after {@link #pause}. */
    public void resume() throws IOException {
        signal("-CONT");
    }

    /**
     * {@link #pause}, and {@link #resume} after so long, by a process that ends then: for callers that cannot start one
     * meanwhile, as they have files open that only a server which is paused could close.
     */
    public Process pauseFor(Duration time) throws IOException {
        String seconds = time.toMillis() / 1000 + "." + "%03d".formatted(time.toMillis() % 1000);
        return new ProcessBuilder("sh", "-c", "kill -STOP $0; sleep $1; kill -CONT $0", Long.toString(pid()), seconds)
                .inheritIO()
                .start();
    }

    /** Of the process that was started last. */
    public long pid() {
        Process running = process;
        if (running == null) {
            throw new IllegalStateException(name + " does not run");
        }
        return running.pid();
    }

    private void signal(String signal) throws IOException {
        Process kill = new ProcessBuilder("kill", signal, Long.toString(pid()))
                .inheritIO()
                .start();
        try {
            if (!kill.waitFor(30, TimeUnit.SECONDS) || kill.exitValue() != 0) {
                throw new IOException("kill " + signal + " of " + name + " failed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted", e);
        }
    }

    /** Whether a gRPC server answers at its address: of several masters that of the leader alone, the others hang up. */
    boolean servesGrpc() {
        try (Socket socket = new Socket()) {
            socket.connect(address, ANSWER_MILLIS);
            socket.setSoTimeout(ANSWER_MILLIS);
            socket.getOutputStream().write(HELLO);
            return socket.getInputStream().read() >= 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** Waits until its port takes connections; an early end is told with the last lines of its log. */
    void awaitPort(long deadlineNanos) throws IOException {
        while (true) {
            if (!isAlive()) {
                throw new IOException(name + " ended while starting; " + log + " ends with:\n" + logTail());
            }
            try (Socket socket = new Socket()) {
                socket.connect(address, 1000);
                if (isAlive()) {
                    return;
                }
            } catch (IOException e) {
                if (Clock.system().nanos() - deadlineNanos > 0) {
                    throw new IOException(name + " is not ready in time; " + log + " ends with:\n" + logTail(), e);
                }
            }
            EmbeddedAlluxio.pauseMillis(POLL_MILLIS);
        }
    }

    private String logTail() throws IOException {
        if (!Files.exists(log)) {
            return "(no log)";
        }
        List<String> lines = Files.readAllLines(log);
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
    }
}
