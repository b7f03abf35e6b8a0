package io.posixgateway.alluxio.nodecache;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Another disk, as it is: for those that change some of what it does. */
abstract class ForwardingDisk implements FolderDisk {
    final FolderDisk disk;

    ForwardingDisk(FolderDisk disk) {
        this.disk = disk;
    }

    static ByteBuffer half(ByteBuffer all) {
        return all.slice(0, all.limit() / 2);
    }

    @Override
    public void prepare() throws IOException {
        disk.prepare();
    }

    @Override
    public boolean isSuspended() {
        return disk.isSuspended();
    }

    @Override
    public Opened open(String name) throws IOException {
        return disk.open(name);
    }

    @Override
    public ByteBuffer map(String name) throws IOException {
        return disk.map(name);
    }

    @Override
    public void write(String name, List<ByteBuffer> parts, boolean syncs) throws IOException {
        disk.write(name, parts, syncs);
    }

    @Override
    public void append(String name, ByteBuffer bytes) throws IOException {
        disk.append(name, bytes);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        disk.rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
        disk.delete(name);
    }

    @Override
    public List<String> list(String folder) {
        return disk.list(folder);
    }

    @Override
    public long modifiedMillis(String name) {
        return disk.modifiedMillis(name);
    }

    @Override
    public long usableBytes() {
        return disk.usableBytes();
    }

    @Override
    public long totalBytes() {
        return disk.totalBytes();
    }

    @Override
    public void empty(String folder) throws IOException {
        disk.empty(folder);
    }
}
