package io.posixgateway.fuse.example;

import io.posixgateway.fuse.path.PathFileSystem;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Stat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Mounts a zip archive: {@code ZipMount ARCHIVE MOUNTPOINT}. */
public final class ZipMount extends PathFileSystem<byte[]> {
    private final java.nio.file.FileSystem zip;

    public ZipMount(java.nio.file.FileSystem zip) {
        this.zip = zip;
    }

    @Override
    protected void getattr(String path, Attributes attributes) throws IOException {
        var found = Files.readAttributes(zip.getPath(path), BasicFileAttributes.class);
        attributes.mode = found.isDirectory() ? Stat.S_IFDIR | 0555 : Stat.S_IFREG | 0444;
        attributes.sizeBytes = found.size();
        attributes.setAllTimes(found.lastModifiedTime().to(TimeUnit.SECONDS), 0);
    }

    @Override
    protected void readdir(String path, Consumer<String> names) throws IOException {
        try (Stream<Path> children = Files.list(zip.getPath(path))) {
            children.forEach(child -> names.accept(child.getFileName().toString()));
        }
    }

    @Override
    protected byte[] open(String path, int flags) throws IOException {
        return Files.readAllBytes(zip.getPath(path));
    }

    @Override
    protected int read(byte[] file, long offset, ByteBuffer into) {
        int count = (int) Math.max(0, Math.min(into.remaining(), file.length - offset));
        into.put(file, (int) Math.min(offset, file.length), count);
        return count;
    }

    public static void main(String[] arguments) throws Exception {
        try (var zip = FileSystems.newFileSystem(Path.of(arguments[0]));
                var session = FuseSession.mount(new ZipMount(zip), Path.of(arguments[1]), SessionOptions.defaults())) {
            System.out.println(session.line());
            session.await(Duration.ofDays(1));
        }
    }
}
