package io.posixgateway.alluxio.nodecache;

import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A disk that answers in time, see {@link DiskCalls}: who opens or reads a file waits for seconds at most. All else is for the thread that
 * writes, and waits.
 */
final class TimedDisk implements FolderDisk {
    private static final Logger LOG = LoggerFactory.getLogger(TimedDisk.class);
    /** What removes many files. */
    private static final long REMOVAL_NANOS = 600_000_000_000L;

    private final FolderDisk disk;
    private final DiskCalls calls;

    TimedDisk(FolderDisk disk, DiskCalls calls) {
        this.disk = disk;
        this.calls = calls;
    }

    @Override
    public boolean isSuspended() {
        return calls.isSuspended();
    }

    @Override
    public Opened open(String name) throws IOException {
        return new TimedFile(calls.answered(() -> disk.open(name), TimedDisk::close));
    }

    private static void close(Opened file) {
        try {
            file.close();
        } catch (IOException e) {
            LOG.debug("Closing a file of the data cache failed: {}", e.toString());
        }
    }

    private interface Reading {
        int read(long offset, ByteBuffer into) throws IOException;
    }

    /** Closed, on another thread, once nobody reads it any more. */
    private final class TimedFile implements Opened {
        private final Opened file;
        /** Who has it open, and each read. Guarded by this. */
        private int users = 1;

        private boolean closed;

        TimedFile(Opened file) {
            this.file = file;
        }

        private synchronized boolean isEntered() {
            users += closed ? 0 : 1;
            return !closed;
        }

        private void leave() {
            boolean last;
            synchronized (this) {
                last = --users == 0;
            }
            if (last) {
                calls.later(() -> TimedDisk.close(file));
            }
        }

        @Override
        public int readNow(long offset, ByteBuffer into) {
            if (calls.isSuspended() || !isEntered()) {
                return -1;
            }
            try {
                return file.readNow(offset, into);
            } finally {
                leave();
            }
        }

        @Override
        public int read(long offset, ByteBuffer into) throws IOException {
            return read(offset, into, file::read);
        }

        @Override
        public int readOnce(long offset, ByteBuffer into) throws IOException {
            return read(offset, into, file::readOnce);
        }

        private int read(long offset, ByteBuffer into, Reading reading) throws IOException {
            int start = into.position();
            boolean more = true;
            while (more && into.hasRemaining()) {
                long at = offset + into.position() - start;
                int wanted = into.remaining();
                ByteBuffer part = calls.answered(() -> part(at, wanted, reading), calls::giveBuffer);
                more = part.hasRemaining();
                into.put(part);
                calls.giveBuffer(part);
            }
            return into.position() - start;
        }

        /** Into memory that stays its own when nobody waits any more. */
        private ByteBuffer part(long offset, int bytes, Reading reading) throws IOException {
            ByteBuffer buffer = calls.takeBuffer();
            if (!isEntered()) {
                calls.giveBuffer(buffer);
                throw new ClosedChannelException();
            }
            try {
                reading.read(offset, buffer.limit(Math.min(buffer.capacity(), bytes)));
                return buffer.flip();
            } catch (IOException | RuntimeException | Error e) {
                calls.giveBuffer(buffer);
                throw e;
            } finally {
                leave();
            }
        }

        @Override
        public FileDescriptor descriptor() {
            return file.descriptor();
        }

        @Override
        public void close() {
            synchronized (this) {
                if (closed) {
                    return;
                }
                closed = true;
            }
            leave();
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    private void change(Step step) throws IOException {
        calls.unawaited(DiskCalls.CHANGE_NANOS, () -> {
            step.run();
            return true;
        });
    }

    @Override
    public void prepare() throws IOException {
        change(disk::prepare);
    }

    @Override
    public ByteBuffer map(String name) throws IOException {
        return calls.unawaited(DiskCalls.CHANGE_NANOS, () -> disk.map(name));
    }

    @Override
    public void write(String name, List<ByteBuffer> parts, boolean syncs) throws IOException {
        change(() -> disk.write(name, parts, syncs));
    }

    @Override
    public void append(String name, ByteBuffer bytes) throws IOException {
        change(() -> disk.append(name, bytes));
    }

    @Override
    public void rename(String from, String to) throws IOException {
        change(() -> disk.rename(from, to));
    }

    @Override
    public void delete(String name) throws IOException {
        change(() -> disk.delete(name));
    }

    private <T> T found(Supplier<T> question) {
        try {
            return calls.unawaited(DiskCalls.CHANGE_NANOS, question::get);
        } catch (IOException e) {
            throw new IllegalStateException("it throws none", e);
        }
    }

    @Override
    public List<String> list(String folder) {
        return found(() -> disk.list(folder));
    }

    @Override
    public long modifiedMillis(String name) {
        return found(() -> disk.modifiedMillis(name));
    }

    @Override
    public long usableBytes() {
        return found(disk::usableBytes);
    }

    @Override
    public long totalBytes() {
        return found(disk::totalBytes);
    }

    @Override
    public void empty(String folder) throws IOException {
        calls.unawaited(REMOVAL_NANOS, () -> {
            disk.empty(folder);
            return true;
        });
    }
}
