package io.posixgateway.alluxio.nodecache;

import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** A disk on which steps fail as a test says. */
final class FaultyDisk extends ForwardingDisk {
    /** Changes up to the one that fails; negative: none does. */
    int changesLeft = -1;

    boolean changesFail;
    boolean readsFail;
    /** Opening does not. */
    boolean contentFails;
    /** Files that are open. */
    int open;

    /** What is written is lost on its way to the disk, which only who waits for it hears of. */
    boolean syncsFail;

    /** What a change that fails has written before. */
    boolean tears;

    /** 0: it has no size. */
    long totalBytes;
    /** Is asked each time. */
    LongSupplier usableBytes = () -> 0;

    Supplier<IOException> failure = () -> new IOException("Input/output error");

    FaultyDisk(FolderDisk disk) {
        super(disk);
    }

    private boolean fails() {
        if (changesLeft == 0) {
            changesFail = true;
        }
        changesLeft--;
        return changesFail;
    }

    private void change() throws IOException {
        if (fails()) {
            throw failure.get();
        }
    }

    private void read() throws IOException {
        if (readsFail) {
            throw failure.get();
        }
    }

    @Override
    public Opened open(String name) throws IOException {
        read();
        Opened opened = disk.open(name);
        open++;
        return new Opened() {
            @Override
            public int read(long offset, ByteBuffer into) throws IOException {
                FaultyDisk.this.read();
                if (contentFails) {
                    throw failure.get();
                }
                return opened.read(offset, into);
            }

            @Override
            public FileDescriptor descriptor() {
                return opened.descriptor();
            }

            @Override
            public void close() throws IOException {
                open--;
                opened.close();
            }
        };
    }

    @Override
    public ByteBuffer map(String name) throws IOException {
        read();
        return disk.map(name);
    }

    @Override
    public void write(String name, List<ByteBuffer> parts, boolean syncs) throws IOException {
        if (fails()) {
            if (tears) {
                disk.write(name, List.of(half(parts.get(0))), syncs);
            }
            throw failure.get();
        }
        disk.write(name, parts, syncs);
        if (syncs && syncsFail) {
            throw failure.get();
        }
    }

    @Override
    public void append(String name, ByteBuffer bytes) throws IOException {
        if (fails()) {
            if (tears) {
                disk.append(name, half(bytes));
            }
            throw failure.get();
        }
        disk.append(name, bytes);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        change();
        disk.rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
        change();
        disk.delete(name);
    }

    @Override
    public long usableBytes() {
        return usableBytes.getAsLong();
    }

    @Override
    public long totalBytes() {
        return totalBytes;
    }

    @Override
    public void empty(String folder) throws IOException {
        change();
        disk.empty(folder);
    }

    /** As the system says it of this errno. */
    static IOException ofErrno(int errno) {
        return new IOException(io.posixgateway.fuse.jni.Native.errorText(-errno));
    }
}
