package io.posixgateway.fuse.mounted;

import io.posixgateway.fuse.path.PathFileSystem;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.Stat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Shows a local folder through a mount: a writable file system by paths, as an author would write one. */
final class MirrorFileSystem extends PathFileSystem<FileChannel> {
    private final Path root;

    MirrorFileSystem(Path root) {
        this.root = root;
    }

    private Path at(String path) {
        return root.resolve(path.substring(1));
    }

    @Override
    protected void getattr(String path, Attributes attributes) throws IOException {
        Map<String, Object> found = Files.readAttributes(at(path), "unix:*", LinkOption.NOFOLLOW_LINKS);
        attributes.mode = (int) number(found, "mode");
        attributes.links = (int) number(found, "nlink");
        attributes.uid = (int) number(found, "uid");
        attributes.gid = (int) number(found, "gid");
        attributes.sizeBytes = number(found, "size");
        Instant modified =
                Files.getLastModifiedTime(at(path), LinkOption.NOFOLLOW_LINKS).toInstant();
        attributes.setAllTimes(modified.getEpochSecond(), modified.getNano());
    }

    private static long number(Map<String, Object> found, String name) {
        return found.get(name) instanceof Number number ? number.longValue() : 0;
    }

    @Override
    protected void readdir(String path, Consumer<String> names) throws IOException {
        try (Stream<Path> children = Files.list(at(path))) {
            children.forEach(child -> names.accept(child.getFileName().toString()));
        }
    }

    @Override
    protected FileChannel open(String path, int flags) throws IOException {
        Set<OpenOption> options = (flags & Stat.O_ACCMODE) == Stat.O_RDONLY
                ? Set.of(StandardOpenOption.READ)
                : Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
        return FileChannel.open(at(path), options);
    }

    @Override
    protected FileChannel create(String path, int mode, int flags) throws IOException {
        FileChannel channel = FileChannel.open(
                at(path), StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE);
        Files.setAttribute(at(path), "unix:mode", mode);
        return channel;
    }

    @Override
    protected int read(FileChannel file, long offset, ByteBuffer into) throws IOException {
        return file.read(into, offset);
    }

    @Override
    protected int write(FileChannel file, long offset, ByteBuffer data) throws IOException {
        return file.write(data, offset);
    }

    @Override
    protected void fsync(FileChannel file) throws IOException {
        file.force(true);
    }

    @Override
    protected void mkdir(String path, int mode) throws IOException {
        Files.createDirectory(at(path));
        Files.setAttribute(at(path), "unix:mode", mode);
    }

    @Override
    protected void unlink(String path) throws IOException {
        Files.delete(at(path));
    }

    @Override
    protected void rmdir(String path) throws IOException {
        if (!Files.isDirectory(at(path), LinkOption.NOFOLLOW_LINKS)) {
            throw new NotDirectoryException(path);
        }
        Files.delete(at(path));
    }

    @Override
    protected void rename(String path, String newPath) throws IOException {
        if (Files.isDirectory(at(path), LinkOption.NOFOLLOW_LINKS) && Files.isDirectory(at(newPath))) {
            Files.delete(at(newPath));
        }
        Files.move(at(path), at(newPath), StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    protected void symlink(String path, String target) throws IOException {
        Files.createSymbolicLink(at(path), Path.of(target));
    }

    @Override
    protected String readlink(String path) throws IOException {
        return Files.readSymbolicLink(at(path)).toString();
    }

    @Override
    protected void truncate(String path, long sizeBytes) throws IOException {
        try (FileChannel channel = FileChannel.open(at(path), StandardOpenOption.WRITE)) {
            if (sizeBytes <= channel.size()) {
                channel.truncate(sizeBytes);
            } else {
                channel.write(ByteBuffer.allocate(1), sizeBytes - 1);
            }
        }
    }

    @Override
    protected void setattr(String path, SetAttributes changes) throws IOException {
        if (changes.has(SetAttributes.MODE)) {
            Files.setAttribute(at(path), "unix:mode", changes.mode & Stat.PERMISSIONS);
        }
        if (changes.has(SetAttributes.MODIFY_TIME)) {
            Instant time = Instant.ofEpochSecond(changes.modifySeconds, changes.modifyNanos);
            Files.setLastModifiedTime(at(path), FileTime.from(time));
        }
    }
}
