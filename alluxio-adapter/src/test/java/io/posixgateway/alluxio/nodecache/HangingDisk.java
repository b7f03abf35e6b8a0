package io.posixgateway.alluxio.nodecache;

import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Callable;

/** A disk that gives no answer while a test says so. What is in memory needs none. Any thread. */
final class HangingDisk extends ForwardingDisk {
    private boolean hangs;
    private boolean forgot;
    private int unanswered;
    private int reads;
    private int opens;
    private int open;

    HangingDisk(FolderDisk disk) {
        super(disk);
    }

    /** From now on; nothing that was read is in memory. */
    synchronized void hang() {
        hangs = true;
        forgot = true;
    }

    synchronized void answer() {
        hangs = false;
        notifyAll();
    }

    /** Calls that wait. */
    synchronized int unanswered() {
        return unanswered;
    }

    /** Reads that were not of memory. */
    synchronized int reads() {
        return reads;
    }

    /** Calls that opened a file, or wait to. */
    synchronized int opens() {
        return opens;
    }

    /** Files that are open. */
    synchronized int open() {
        return open;
    }

    private synchronized void opened(int more) {
        open += more;
    }

    private synchronized boolean isForgotten() {
        return forgot;
    }

    /** As the kernel does, which no interrupt reaches. */
    private synchronized void pass() {
        boolean interrupted = false;
        unanswered++;
        while (hangs) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        unanswered--;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private <T> T passed(Callable<T> question) throws IOException {
        pass();
        try {
            return question.call();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    @Override
    public void prepare() throws IOException {
        pass();
        super.prepare();
    }

    @Override
    public Opened open(String name) throws IOException {
        synchronized (this) {
            opens++;
        }
        Opened file = passed(() -> disk.open(name));
        opened(1);
        return new HangingFile(file);
    }

    private final class HangingFile implements Opened {
        private final Opened file;

        HangingFile(Opened file) {
            this.file = file;
        }

        @Override
        public int read(long offset, ByteBuffer into) throws IOException {
            synchronized (HangingDisk.this) {
                reads++;
            }
            return passed(() -> file.read(offset, into));
        }

        @Override
        public int readNow(long offset, ByteBuffer into) {
            return isForgotten() ? -1 : file.readNow(offset, into);
        }

        @Override
        public FileDescriptor descriptor() {
            return file.descriptor();
        }

        @Override
        public void close() throws IOException {
            pass();
            opened(-1);
            file.close();
        }
    }

    @Override
    public void write(String name, List<ByteBuffer> parts, boolean syncs) throws IOException {
        pass();
        super.write(name, parts, syncs);
    }

    @Override
    public long usableBytes() {
        pass();
        return super.usableBytes();
    }
}
