package io.posixgateway.alluxio.nodecache;

import io.posixgateway.fuse.jni.Native;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A folder of the node. What it makes is for its user alone. */
final class LocalDisk implements FolderDisk {
    private static final FileAttribute<?> OWN_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<?> OWN_FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final Set<OpenOption> REPLACE = Set.of(
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING,
            LinkOption.NOFOLLOW_LINKS);
    private static final Set<OpenOption> APPEND =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND, LinkOption.NOFOLLOW_LINKS);

    private final Path root;

    LocalDisk(Path root) {
        this.root = root;
    }

    private static final class LocalFile implements Opened {
        /** Read ahead for who reads in sequence: the kernel does not do so itself, see {@link Native#residentBegin}. */
        private static final int AHEAD_BYTES = 1 << 20;

        private final FileInputStream stream;
        private final FileChannel channel;
        private final FileDescriptor descriptor;
        /** Can be told what is in memory? */
        private final boolean tells;
        /** A hint. */
        private volatile long sequentialEnd;

        LocalFile(FileInputStream stream) throws IOException {
            this.stream = stream;
            this.channel = stream.getChannel();
            this.descriptor = stream.getFD();
            this.tells = Native.residentBegin(descriptor) == 0;
        }

        @Override
        public int readNow(long offset, ByteBuffer into) {
            int bytes = into.remaining();
            if (!tells
                    || !into.isDirect()
                    || Native.residentRead(descriptor, into, into.position(), bytes, offset) != bytes) {
                return -1;
            }
            into.position(into.position() + bytes);
            sequentialEnd = offset + bytes;
            return bytes;
        }

        @Override
        public int read(long offset, ByteBuffer into) throws IOException {
            if (offset == sequentialEnd && tells) {
                Native.prefetch(descriptor, offset, (long) into.remaining() + AHEAD_BYTES);
            }
            sequentialEnd = offset + into.remaining();
            return readAll(offset, into);
        }

        private int readAll(long offset, ByteBuffer into) throws IOException {
            int start = into.position();
            while (into.hasRemaining()) {
                if (channel.read(into, offset + into.position() - start) <= 0) {
                    break;
                }
            }
            return into.position() - start;
        }

        @Override
        public int readOnce(long offset, ByteBuffer into) throws IOException {
            boolean wasThere =
                    tells && Native.residentRead(descriptor, ByteBuffer.allocateDirect(1), 0, 1, offset) == 1;
            int count = readAll(offset, into); // what a prefetch brings would stay
            if (!wasThere && count > 0) {
                Native.discardPages(descriptor, offset, count);
            }
            return count;
        }

        @Override
        public FileDescriptor descriptor() {
            return descriptor;
        }

        @Override
        public void close() throws IOException {
            stream.close();
        }
    }

    @Override
    public void prepare() throws IOException {
        CacheFolder.prepare(root);
    }

    @Override
    public Opened open(String name) throws IOException {
        Path path = root.resolve(name);
        try {
            return new LocalFile(new FileInputStream(path.toFile()));
        } catch (FileNotFoundException e) {
            if (Files.notExists(path)) {
                throw new NoSuchFileException(name);
            }
            String text = String.valueOf(e.getMessage()); // "path (reason)"
            int reason = text.lastIndexOf(" (") + 2;
            throw new FileSystemException(name, null, text.substring(reason, Math.max(reason, text.length() - 1)));
        }
    }

    @Override
    public ByteBuffer map(String name) throws IOException {
        try (FileChannel channel = FileChannel.open(root.resolve(name))) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        } catch (NoSuchFileException missing) {
            return ByteBuffer.allocate(0);
        }
    }

    @Override
    public void write(String name, List<ByteBuffer> parts, boolean syncs) throws IOException {
        try (FileChannel channel = FileChannel.open(root.resolve(name), REPLACE, OWN_FILE)) {
            for (ByteBuffer part : parts) {
                writeAll(channel, part);
            }
            if (syncs) {
                channel.force(false);
            }
        }
    }

    private static void writeAll(FileChannel channel, ByteBuffer bytes) throws IOException {
        ByteBuffer left = bytes.duplicate();
        while (left.hasRemaining()) {
            channel.write(left);
        }
    }

    @Override
    public void append(String name, ByteBuffer bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(root.resolve(name), APPEND, OWN_FILE)) {
            writeAll(channel, bytes);
        }
    }

    @Override
    public void rename(String from, String to) throws IOException {
        try {
            move(from, to);
        } catch (NoSuchFileException e) {
            makeFolder(root.resolve(to).getParent());
            move(from, to);
        }
    }

    private void move(String from, String to) throws IOException {
        Files.move(
                root.resolve(from),
                root.resolve(to),
                StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
    }

    /** Below the root, which is not made anew: the lock is on the one that was there. */
    private void makeFolder(@Nullable Path folder) throws IOException {
        if (folder == null || folder.equals(root) || Files.exists(folder)) {
            return;
        }
        makeFolder(folder.getParent());
        try {
            Files.createDirectory(folder, OWN_FOLDER);
        } catch (FileAlreadyExistsException byAnother) {
            // as it should be
        }
    }

    @Override
    public void delete(String name) throws IOException {
        Files.deleteIfExists(root.resolve(name));
    }

    @Override
    public List<String> list(String folder) {
        String[] names = root.resolve(folder).toFile().list();
        return names == null ? List.of() : List.of(names);
    }

    @Override
    public long modifiedMillis(String name) {
        return root.resolve(name).toFile().lastModified();
    }

    @Override
    public long usableBytes() {
        return root.toFile().getUsableSpace();
    }

    @Override
    public long totalBytes() {
        return root.toFile().getTotalSpace();
    }

    @Override
    public void empty(String folder) throws IOException {
        Path top = root.resolve(folder);
        if (Files.exists(top, LinkOption.NOFOLLOW_LINKS)) {
            Files.walkFileTree(top, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path left, @Nullable IOException failure) throws IOException {
                    if (failure != null) {
                        throw failure;
                    }
                    Files.deleteIfExists(left);
                    return FileVisitResult.CONTINUE;
                }
            });
        }
        makeFolder(top);
    }
}
