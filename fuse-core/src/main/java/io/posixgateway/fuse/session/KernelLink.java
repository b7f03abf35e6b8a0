package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Features;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.transport.Transport;
import java.io.FileDescriptor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notifications and backing files of one session. Any thread; each builds its messages in a buffer of its own. */
final class KernelLink implements Kernel {
    private static final ThreadLocal<ByteBuffer> MESSAGE = ThreadLocal.withInitial(
            () -> ByteBuffer.allocateDirect(NotificationFormat.MAX_BYTES).order(ByteOrder.nativeOrder()));

    /** Of one message; the kernel copies it page by page. */
    private static final int PIECE_BYTES = 128 << 10;

    private static final long DISCONNECT_SECONDS = 5;
    private static final Logger LOG = LoggerFactory.getLogger(KernelLink.class);

    private final FileSystem fileSystem;
    private final boolean readOnly;
    private final @Nullable NotificationProxy carrier;
    private final NotificationWriter writer = new NotificationWriter(this::with);
    /** Read-locked while the descriptor is in use: a closed one may be another file's by then. */
    private final ReentrantReadWriteLock line = new ReentrantReadWriteLock();

    private volatile @Nullable Transport transport;
    private volatile @Nullable Negotiated negotiated;
    private volatile int fd = -1;

    /**
     * @param readOnly is the session?
     * @param carrier of notifications that may wait, in whose place a child of this process writes them while it is away; null: they are
     *     written here, as whoever guards the mount sees to it that it ends with this process
     */
    KernelLink(FileSystem fileSystem, boolean readOnly, @Nullable NotificationProxy carrier) {
        this.fileSystem = fileSystem;
        this.readOnly = readOnly;
        this.carrier = carrier;
    }

    /** The line is up. */
    void connect(Transport newTransport, int newFd) {
        transport = newTransport;
        fd = newFd;
    }

    /** Tells the file system that it begins: the first time only, for INIT may come to another transport again. */
    synchronized void negotiated(Negotiated outcome) {
        boolean first = negotiated == null;
        negotiated = outcome;
        if (first) {
            fileSystem.started(this);
        }
    }

    /**
     * From now on everything is answered ENOTCONN.
     *
     * @return true: nothing uses the descriptor any more; false: a notification hangs in the kernel
     */
    boolean disconnect() {
        transport = null;
        fd = -1;
        writer.close();
        try {
            if (line.writeLock().tryLock(DISCONNECT_SECONDS, TimeUnit.SECONDS)) {
                line.writeLock().unlock();
                return true;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        LOG.error("a notification hangs in the kernel, and its thread with it");
        return false;
    }

    @Override
    public Features features() {
        Negotiated outcome = negotiated;
        if (outcome == null) {
            throw new IllegalStateException("the kernel has not sent INIT yet");
        }
        return outcome.features(readOnly);
    }

    @Override
    public int invalidateInode(long node, long offset, long lengthBytes) {
        ByteBuffer message = MESSAGE.get();
        int bytes = NotificationFormat.invalidateInode(message, 0, node, offset, lengthBytes);
        return offset < 0 ? send(message, bytes) : sendWaiting(message, bytes);
    }

    @Override
    public int store(long node, long offset, ByteBuffer bytes) {
        ByteBuffer from = bytes.duplicate();
        int piece = Math.min(PIECE_BYTES, from.remaining());
        ByteBuffer message = ByteBuffer.allocateDirect(
                        NotificationFormat.HEADER_BYTES + NotificationFormat.STORE_BYTES + piece)
                .order(ByteOrder.nativeOrder());
        long at = offset;
        int result = 0;
        while (result == 0 && from.hasRemaining()) {
            int count = Math.min(piece, from.remaining());
            result = send(message, NotificationFormat.store(message, node, at, from, count));
            from.position(from.position() + count);
            at += count;
        }
        return result;
    }

    @Override
    public int invalidateEntry(long parent, Name name) {
        if (name.length() > Name.MAX_BYTES) {
            return -Errno.ENAMETOOLONG;
        }
        ByteBuffer message = MESSAGE.get();
        return sendWaiting(message, NotificationFormat.invalidateEntry(message, 0, parent, name));
    }

    @Override
    public int notifyDelete(long parent, long child, Name name) {
        if (name.length() > Name.MAX_BYTES) {
            return -Errno.ENAMETOOLONG;
        }
        ByteBuffer message = MESSAGE.get();
        return sendWaiting(message, NotificationFormat.delete(message, 0, parent, child, name));
    }

    @Override
    public Batch batch() {
        return new NotificationBatch(this);
    }

    /** Asks for everything that was under way in another process. */
    int resend() {
        ByteBuffer message = MESSAGE.get();
        return send(message, NotificationFormat.resend(message));
    }

    /** Tells one or more, one behind the other, for which the kernel may wait until requests are answered. */
    int sendWaiting(ByteBuffer messages, int bytes) {
        if (transport == null) {
            return -Errno.ENOTCONN;
        }
        int result = carried(messages, bytes);
        if (result != NotificationProxy.AWAY) {
            return result;
        }
        for (int at = 0; at < bytes; at += messages.getInt(at)) {
            result = send(messages.slice(at, messages.getInt(at)).order(ByteOrder.nativeOrder()), messages.getInt(at));
        }
        return result;
    }

    /** AWAY: there is nobody else. */
    private int carried(ByteBuffer messages, int bytes) {
        if (carrier == null) {
            return NotificationProxy.AWAY;
        }
        int result = carrier.carry(messages, bytes);
        if (result == NotificationProxy.AWAY) {
            return writer.carry(messages, bytes);
        }
        writer.rest();
        return result;
    }

    private int with(IntUnaryOperator use) {
        line.readLock().lock();
        try {
            int connection = fd;
            return connection < 0 ? -Errno.ENOTCONN : use.applyAsInt(connection);
        } finally {
            line.readLock().unlock();
        }
    }

    private int send(ByteBuffer message, int bytes) {
        line.readLock().lock();
        try {
            Transport mounted = transport;
            return mounted == null ? -Errno.ENOTCONN : mounted.notify(message, bytes);
        } finally {
            line.readLock().unlock();
        }
    }

    @Override
    public int openBacking(FileDescriptor file) {
        Negotiated outcome = negotiated;
        if (outcome == null || !outcome.has(InitFeature.PASSTHROUGH)) {
            return -Errno.EOPNOTSUPP;
        }
        line.readLock().lock();
        try {
            int connection = fd;
            return connection < 0 ? -Errno.ENOTCONN : Native.openBacking(connection, file);
        } finally {
            line.readLock().unlock();
        }
    }

    @Override
    public int closeBacking(int backingId) {
        line.readLock().lock();
        try {
            int connection = fd;
            return connection < 0 ? -Errno.ENOTCONN : Native.closeBacking(connection, backingId);
        } finally {
            line.readLock().unlock();
        }
    }
}
