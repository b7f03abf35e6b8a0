package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.jni.NativeLoader;
import io.posixgateway.fuse.spi.Errno;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has notifications of one session written by a child process, where no keeper writes them: a thread of this process that waits in the kernel
 * when it is killed would keep all of its sessions, and hang their mounts, for nobody may abort what somebody seems to serve. The child
 * holds that one connection. It is started when it is needed, ends with this process, and writes one order after the other.
 *
 * <p>Any thread; those that have an order wait for their turn, and for the kernel.
 */
final class NotificationWriter implements NotificationProxy, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NotificationWriter.class);
    private static final int CONNECT_MILLIS = 10_000;
    /** A child that was killed is replaced once; a notification may be written twice. */
    private static final int TRIES = 2;

    private final Connected connected;
    /** Held by the one whose order is written. */
    private final ReentrantLock turn = new ReentrantLock();

    private volatile @Nullable Process child;
    private volatile boolean closed;
    private volatile boolean failed;

    /** Where the connection is. */
    interface Connected {
        /** Runs with the descriptor, which stays open meanwhile; -ENOTCONN: there is none. */
        int with(IntUnaryOperator use);
    }

    NotificationWriter(Connected connected) {
        this.connected = connected;
    }

    /** As said there; AWAY: no child can be started, and the log says why, once; or each child was killed over it. */
    @Override
    public int carry(ByteBuffer messages, int bytes) {
        if (failed) {
            return AWAY;
        }
        byte[] notifications = new byte[bytes];
        messages.get(0, notifications);
        turn.lock();
        try {
            for (int i = 0; i < TRIES && !closed; i++) {
                int result = order(notifications);
                if (result != AWAY || failed) {
                    return result;
                }
            }
            return closed ? -Errno.ENOTCONN : AWAY;
        } finally {
            turn.unlock();
        }
    }

    /** AWAY: the child is, or there is none. */
    private int order(byte[] notifications) {
        try {
            Process writer = child;
            if (writer == null) {
                writer = start();
                child = writer;
            }
            if (closed) {
                end();
                return -Errno.ENOTCONN;
            }
            ByteBuffer number = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder());
            OutputStream orders = writer.getOutputStream();
            orders.write(number.putInt(0, notifications.length).array());
            orders.write(notifications);
            orders.flush();
            new DataInputStream(writer.getInputStream()).readFully(number.array());
            return -number.getInt(0);
        } catch (IOException e) {
            LOG.debug("The process that writes kernel notifications has ended: {}", e.toString());
            end();
            return AWAY;
        }
    }

    private Process start() throws IOException {
        try {
            Path folder = Files.createTempDirectory("pgw-notices-");
            try {
                return started(folder.resolve("socket"));
            } finally {
                Files.deleteIfExists(folder.resolve("socket"));
                Files.deleteIfExists(folder);
            }
        } catch (IOException e) {
            failed = true;
            LOG.warn(
                    "This process writes kernel notifications itself ({}), so it may hang when it is killed: give a"
                            + " folder that is not mounted noexec with -Djava.io.tmpdir=DIR",
                    e.toString());
            throw e;
        }
    }

    private Process started(Path socket) throws IOException {
        Path program = NativeLoader.extract("pgw-notice-writer");
        Process writer;
        try {
            writer = new ProcessBuilder(program.toString(), socket.toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            InputStream ready = writer.getInputStream();
            if (ready.read() < 0) {
                throw new IOException("the program that writes kernel notifications ended at once");
            }
        } finally {
            Files.deleteIfExists(program);
        }
        int given = connected.with(fd -> give(socket, fd));
        if (given < 0) {
            writer.destroyForcibly();
            throw new IOException("the connection's descriptor cannot be passed on: " + Native.errorText(given));
        }
        return writer;
    }

    private static int give(Path socket, int fd) {
        int connection = Native.connectUnix(Native.pathBytes(socket.toString()), CONNECT_MILLIS);
        if (connection < 0) {
            return connection;
        }
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        int sent = Native.sendWithFds(connection, one, 1, new int[] {fd});
        Native.close(connection);
        return sent;
    }

    /** The child is not needed for now: it ends, unless it has something to do. */
    void rest() {
        if (child != null && turn.tryLock()) {
            try {
                end();
            } finally {
                turn.unlock();
            }
        }
    }

    /** One that waits in the kernel ends when that does. */
    private void end() {
        Process writer = child;
        if (writer != null) {
            child = null;
            writer.destroyForcibly();
        }
    }

    /** There is no connection any more. Does not wait. */
    @Override
    public void close() {
        closed = true;
        end();
    }
}
