package io.posixgateway.fuse.session;

import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files and empty folders of one local folder. Node ids are its inode numbers and there are no handles, so that another
 * process can go on where this one was killed. Every operation goes to a pool thread.
 */
final class FolderFileSystem implements FileSystem {
    private final Path folder;

    FolderFileSystem(Path folder) {
        this.folder = folder;
    }

    /** What an operation does with local files. */
    private interface Work {
        int run() throws IOException;
    }

    private static int attempt(Request request, Work work) {
        if (!request.mayWait()) {
            return WOULD_WAIT;
        }
        try {
            return work.run();
        } catch (NoSuchFileException e) {
            return -Errno.ENOENT;
        } catch (FileAlreadyExistsException e) {
            return -Errno.EEXIST;
        } catch (IOException e) {
            return -Errno.EIO;
        }
    }

    private Path path(Name name) {
        return folder.resolve(name.toString());
    }

    private record Status(long inode, long sizeBytes, int mode, int links) {}

    private static Status status(Path path) throws IOException {
        Map<String, Object> found = Files.readAttributes(path, "unix:ino,size,mode,nlink", LinkOption.NOFOLLOW_LINKS);
        return new Status(
                number(found, "ino"), number(found, "size"), (int) number(found, "mode"), (int) number(found, "nlink"));
    }

    private static long number(Map<String, Object> found, String name) {
        return ((Number) Objects.requireNonNull(found.get(name))).longValue();
    }

    private @Nullable Path path(long node) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (node == inode(file)) {
                    return file;
                }
            }
        }
        return null;
    }

    private static long inode(Path file) throws IOException {
        try {
            return status(file).inode();
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    private static int fill(Path path, Attributes attributes) throws IOException {
        Status status = status(path);
        attributes.mode = status.mode();
        attributes.links = status.links();
        attributes.sizeBytes = status.sizeBytes();
        return 0;
    }

    private static int fill(Path path, Entry entry) throws IOException {
        entry.node = status(path).inode();
        return fill(path, entry.attributes);
    }

    @Override
    public int lookup(Request request, long parent, Name name, Entry entry) {
        return attempt(request, () -> fill(path(name), entry));
    }

    @Override
    public int getattr(Request request, long node, long handle, Attributes attributes) {
        return attempt(request, () -> {
            Path path = node == ROOT ? folder : path(node);
            return path == null ? -Errno.ESTALE : fill(path, attributes);
        });
    }

    @Override
    public int setattr(Request request, long node, SetAttributes changes, Attributes attributes) {
        return getattr(request, node, 0, attributes);
    }

    @Override
    public int mkdir(Request request, long parent, Name name, int mode, Entry entry) {
        return attempt(request, () -> {
            Files.createDirectory(path(name));
            return fill(path(name), entry);
        });
    }

    @Override
    public int create(Request request, long parent, Name name, int mode, int flags, CreateReply reply) {
        return attempt(request, () -> {
            Files.createFile(path(name));
            reply.open.flags = OpenReply.DIRECT_IO;
            return fill(path(name), reply.entry);
        });
    }

    @Override
    public int unlink(Request request, long parent, Name name) {
        return attempt(request, () -> {
            Files.delete(path(name));
            return 0;
        });
    }

    @Override
    public int rmdir(Request request, long parent, Name name) {
        return unlink(request, parent, name);
    }

    @Override
    public int rename(Request request, long parent, Name name, long newParent, Name newName, int flags) {
        return attempt(request, () -> {
            Files.move(path(name), path(newName));
            return 0;
        });
    }

    @Override
    public int open(Request request, long node, int flags, OpenReply reply) {
        reply.flags = OpenReply.DIRECT_IO;
        return 0;
    }

    @Override
    public int read(Request request, long node, long handle, long offset, ByteBuffer into) {
        return attempt(request, () -> {
            try (FileChannel file = FileChannel.open(existing(node), StandardOpenOption.READ)) {
                return Math.max(0, file.read(into, offset));
            }
        });
    }

    @Override
    public int write(Request request, long node, long handle, long offset, ByteBuffer data) {
        return attempt(request, () -> {
            try (FileChannel file = FileChannel.open(existing(node), StandardOpenOption.WRITE)) {
                return file.write(data, offset);
            }
        });
    }

    private Path existing(long node) throws IOException {
        Path path = path(node);
        if (path == null) {
            throw new NoSuchFileException("node " + node);
        }
        return path;
    }

    @Override
    public int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer) {
        return 0;
    }
}
