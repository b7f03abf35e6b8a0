package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Features;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.transport.Transport;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notifications and backing files of one session. Any thread; each builds its messages in a buffer of its own. */
final class KernelLink implements Kernel {
    private static final int INVAL_INODE = 2;
    private static final int INVAL_ENTRY = 3;
    private static final int STORE = 4;
    private static final int DELETE = 6;
    private static final int RESEND = 7;
    private static final int HEADER_BYTES = 16;
    /** Header, the longest fixed part, a name and its NUL. */
    private static final int MESSAGE_BYTES = HEADER_BYTES + 24 + Name.MAX_BYTES + 1;

    private static final ThreadLocal<ByteBuffer> MESSAGE = ThreadLocal.withInitial(
            () -> ByteBuffer.allocateDirect(MESSAGE_BYTES).order(ByteOrder.nativeOrder()));

    private static final int STORE_BYTES = 24;
    /** Of one message; the kernel copies it page by page. */
    private static final int PIECE_BYTES = 128 << 10;

    private static final long DISCONNECT_SECONDS = 5;
    private static final Logger LOG = LoggerFactory.getLogger(KernelLink.class);

    private final FileSystem fileSystem;
    private final @Nullable NoticeCarrier carrier;
    /** Read-locked while the descriptor is in use: a closed one may be another file's by then. */
    private final ReentrantReadWriteLock line = new ReentrantReadWriteLock();

    private volatile @Nullable Transport transport;
    private volatile @Nullable Negotiated negotiated;
    private volatile int fd = -1;

    /** @param carrier of notices that may wait; null: they are written here */
    KernelLink(FileSystem fileSystem, @Nullable NoticeCarrier carrier) {
        this.fileSystem = fileSystem;
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
     * @return true: nothing uses the descriptor any more; false: a notification hangs in the kernel, leave it open
     */
    boolean disconnect() {
        transport = null;
        fd = -1;
        try {
            if (line.writeLock().tryLock(DISCONNECT_SECONDS, TimeUnit.SECONDS)) {
                line.writeLock().unlock();
                return true;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        LOG.error("a notification hangs in the kernel; the descriptor of the connection is left to it");
        return false;
    }

    @Override
    public Features features() {
        Negotiated outcome = negotiated;
        if (outcome == null) {
            throw new IllegalStateException("INIT has not come yet");
        }
        return outcome.features();
    }

    @Override
    public int invalidateInode(long node, long offset, long lengthBytes) {
        ByteBuffer message = MESSAGE.get();
        message.putLong(HEADER_BYTES, node);
        message.putLong(HEADER_BYTES + 8, offset);
        message.putLong(HEADER_BYTES + 16, lengthBytes);
        return offset < 0 ? send(message, INVAL_INODE, 24) : sendWaiting(message, INVAL_INODE, 24);
    }

    @Override
    public int store(long node, long offset, ByteBuffer bytes) {
        ByteBuffer from = bytes.duplicate();
        int piece = Math.min(PIECE_BYTES, from.remaining());
        ByteBuffer message =
                ByteBuffer.allocateDirect(HEADER_BYTES + STORE_BYTES + piece).order(ByteOrder.nativeOrder());
        message.putLong(HEADER_BYTES, node);
        long at = offset;
        int result = 0;
        while (result == 0 && from.hasRemaining()) {
            int count = Math.min(piece, from.remaining());
            message.putLong(HEADER_BYTES + 8, at);
            message.putInt(HEADER_BYTES + 16, count);
            message.put(HEADER_BYTES + STORE_BYTES, from, from.position(), count);
            result = send(message, STORE, STORE_BYTES + count);
            from.position(from.position() + count);
            at += count;
        }
        return result;
    }

    @Override
    public int invalidateEntry(long parent, Name name) {
        ByteBuffer message = MESSAGE.get();
        message.putLong(HEADER_BYTES, parent);
        message.putInt(HEADER_BYTES + 8, name.length());
        message.putInt(HEADER_BYTES + 12, 0);
        return sendNamed(message, INVAL_ENTRY, 16, name);
    }

    @Override
    public int notifyDelete(long parent, long child, Name name) {
        ByteBuffer message = MESSAGE.get();
        message.putLong(HEADER_BYTES, parent);
        message.putLong(HEADER_BYTES + 8, child);
        message.putInt(HEADER_BYTES + 16, name.length());
        message.putInt(HEADER_BYTES + 20, 0);
        return sendNamed(message, DELETE, 24, name);
    }

    /** Asks for everything that was under way in another process. */
    int resend() {
        return send(MESSAGE.get(), RESEND, 0);
    }

    private int sendNamed(ByteBuffer message, int code, int fixedBytes, Name name) {
        if (name.length() > Name.MAX_BYTES) {
            return -Errno.ENAMETOOLONG;
        }
        message.position(HEADER_BYTES + fixedBytes);
        name.putInto(message);
        message.put((byte) 0).position(0);
        return sendWaiting(message, code, fixedBytes + name.length() + 1);
    }

    /** One for which the kernel may wait until requests are answered. */
    private int sendWaiting(ByteBuffer message, int code, int bodyBytes) {
        NoticeCarrier other = carrier;
        if (other == null) {
            return send(message, code, bodyBytes);
        }
        if (transport == null) {
            return -Errno.ENOTCONN;
        }
        putHeader(message, code, bodyBytes);
        int result = other.carry(message, HEADER_BYTES + bodyBytes);
        return result == NoticeCarrier.AWAY ? send(message, code, bodyBytes) : result;
    }

    private static void putHeader(ByteBuffer message, int code, int bodyBytes) {
        message.putInt(0, HEADER_BYTES + bodyBytes);
        message.putInt(4, code);
        message.putLong(8, 0);
    }

    private int send(ByteBuffer message, int code, int bodyBytes) {
        putHeader(message, code, bodyBytes);
        line.readLock().lock();
        try {
            Transport mounted = transport;
            return mounted == null ? -Errno.ENOTCONN : mounted.notify(message, HEADER_BYTES + bodyBytes);
        } finally {
            line.readLock().unlock();
        }
    }

    @Override
    public int openBacking(String path) {
        Negotiated outcome = negotiated;
        if (outcome == null || !outcome.has(InitFeature.PASSTHROUGH)) {
            return -Errno.EOPNOTSUPP;
        }
        line.readLock().lock();
        try {
            int connection = fd;
            return connection < 0 ? -Errno.ENOTCONN : Native.openBacking(connection, Native.pathBytes(path));
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
