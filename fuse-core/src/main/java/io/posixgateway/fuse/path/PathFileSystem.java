package io.posixgateway.fuse.path;

import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.spi.StatFs;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A file system by paths: implement four methods to be readable, more to be writable.
 *
 * <p>Paths are absolute, "/" the root, names in UTF-8 (others: EILSEQ). A method that cannot do its work throws: {@link
 * ErrnoException} for an exact number, or an exception of java.nio.file, which is mapped; any other is logged and answered
 * EIO. Not overridden ones answer EOPNOTSUPP. Every method may wait and may run on many threads at once. A file that is
 * removed while it is open goes on to be read and written through its handle, but has no attributes any more.
 *
 * @param <H> what the author keeps per open file
 */
public abstract class PathFileSystem<H> implements FileSystem {
    private static final long VALID_NANOS = 1_000_000_000L;
    private static final int BLOCK_BYTES = 4096;

    private final PathNodes nodes = new PathNodes();
    private final HandleTable<H> files = new HandleTable<>();
    /** Handles that may write, each with its node. While there are any, the kernel's pages are the newest there is. */
    private final Map<Long, Long> writing = new ConcurrentHashMap<>();

    private final HandleTable<List<String>> listings = new HandleTable<>();

    /** Fills at least the mode (with its type) and the size; links, times and what is left at 0 take a default. */
    protected abstract void getattr(String path, Attributes attributes) throws IOException;

    /** Gives the names in a directory, without "." and "..". */
    protected abstract void readdir(String path, Consumer<String> names) throws IOException;

    /** Opens a file with these flags of open(2). */
    protected abstract H open(String path, int flags) throws IOException;

    /** Reads at an offset until the buffer is full or the file ends; returns the bytes read, or -1 at the end. */
    protected abstract int read(H file, long offset, ByteBuffer into) throws IOException;

    /** Makes a file and opens it. */
    protected H create(String path, int mode, int flags) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    /** Writes all of the buffer at an offset; returns the bytes written. */
    protected int write(H file, long offset, ByteBuffer data) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    /** A descriptor of the file is closed: what this throws is what close(2) returns. */
    protected void flush(H file) throws IOException {}

    protected void fsync(H file) throws IOException {}

    /** The last descriptor is closed. By default, closes what can be closed. */
    protected void release(H file) throws IOException {
        if (file instanceof Closeable closeable) {
            closeable.close();
        }
    }

    protected void mkdir(String path, int mode) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    protected void unlink(String path) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    protected void rmdir(String path) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    /** Renames; what stands at the new path is replaced, unless it is a directory with entries (ENOTEMPTY). */
    protected void rename(String path, String newPath) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    protected void symlink(String path, String target) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    protected String readlink(String path) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    protected void truncate(String path, long sizeBytes) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    /** Changes what {@code changes} names of mode, owner and times; the size goes to {@link #truncate}. */
    protected void setattr(String path, SetAttributes changes) throws IOException {
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    /** Says nothing of space, but how long a name may be. */
    @Override
    public int statfs(Request request, long node, StatFs reply) {
        reply.blockSizeBytes = BLOCK_BYTES;
        reply.fragmentSizeBytes = BLOCK_BYTES;
        reply.maxNameBytes = Name.MAX_BYTES;
        return 0;
    }

    private interface Work {
        int run() throws IOException;
    }

    /** Runs the author's part where it may wait, and maps what it throws. */
    private static int answer(Request request, Work work) {
        if (!request.mayWait()) {
            return WOULD_WAIT;
        }
        try {
            return work.run();
        } catch (IOException | RuntimeException failure) {
            return errno(failure);
        }
    }

    private static int errno(Exception failure) {
        try {
            return Errors.of(failure);
        } catch (IOException unknown) {
            throw new UncheckedIOException(unknown);
        }
    }

    private String path(long node) throws ErrnoException {
        String path = nodes.pathOf(node);
        if (path == null) {
            throw new ErrnoException(Errno.ENOENT);
        }
        return path;
    }

    private String path(long parent, Name name) throws ErrnoException {
        String above = path(parent);
        return (above.equals("/") ? "/" : above + "/") + text(name.toBytes());
    }

    private static String text(byte[] bytes) throws ErrnoException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new ErrnoException(Errno.EILSEQ);
        }
    }

    private void show(String path, Attributes attributes) throws IOException {
        getattr(path, attributes);
        attributes.links = Math.max(1, attributes.links);
        attributes.blocks = attributes.blocks != 0 ? attributes.blocks : (attributes.sizeBytes + 511) / 512;
        attributes.blockSizeBytes = attributes.blockSizeBytes != 0 ? attributes.blockSizeBytes : BLOCK_BYTES;
        attributes.validNanos = attributes.validNanos != 0 ? attributes.validNanos : VALID_NANOS;
    }

    private int enter(long parent, Name name, Entry entry) throws IOException {
        show(path(parent, name), entry.attributes);
        entry.node = nodes.enter(parent, name);
        entry.validNanos = entry.attributes.validNanos;
        return entry.node == 0 ? -Errno.ENOENT : 0;
    }

    @Override
    public final int lookup(Request request, long parent, Name name, Entry entry) {
        return answer(request, () -> enter(parent, name, entry));
    }

    @Override
    public final void forget(long node, long lookups) {
        nodes.forget(node, lookups);
    }

    @Override
    public final int getattr(Request request, long node, long handle, Attributes attributes) {
        return answer(request, () -> {
            show(path(node), attributes);
            return 0;
        });
    }

    @Override
    public final int setattr(Request request, long node, SetAttributes changes, Attributes attributes) {
        return answer(request, () -> {
            String path = path(node);
            if (changes.has(SetAttributes.SIZE)) {
                truncate(path, changes.sizeBytes);
            }
            if (changes.has(~(SetAttributes.SIZE | SetAttributes.HANDLE | SetAttributes.LOCK_OWNER))) {
                setattr(path, changes);
            }
            show(path, attributes);
            return 0;
        });
    }

    @Override
    public final int readlink(Request request, long node, ByteBuffer target) {
        return answer(request, () -> {
            byte[] bytes = readlink(path(node)).getBytes(StandardCharsets.UTF_8);
            target.put(0, bytes);
            return bytes.length;
        });
    }

    @Override
    public final int symlink(Request request, long parent, Name name, byte[] target, Entry entry) {
        return answer(request, () -> {
            symlink(path(parent, name), text(target));
            return enter(parent, name, entry);
        });
    }

    /** Regular files only. */
    @Override
    public final int mknod(Request request, long parent, Name name, int mode, int device, Entry entry) {
        return answer(request, () -> {
            if (!Stat.isRegular(mode)) {
                return -Errno.EOPNOTSUPP;
            }
            release(create(path(parent, name), mode & Stat.PERMISSIONS, Stat.O_CREAT | Stat.O_EXCL | Stat.O_WRONLY));
            return enter(parent, name, entry);
        });
    }

    @Override
    public final int mkdir(Request request, long parent, Name name, int mode, Entry entry) {
        return answer(request, () -> {
            mkdir(path(parent, name), mode);
            return enter(parent, name, entry);
        });
    }

    @Override
    public final int unlink(Request request, long parent, Name name) {
        return answer(request, () -> {
            unlink(path(parent, name));
            nodes.removed(parent, name);
            return 0;
        });
    }

    @Override
    public final int rmdir(Request request, long parent, Name name) {
        return answer(request, () -> {
            rmdir(path(parent, name));
            nodes.removed(parent, name);
            return 0;
        });
    }

    @Override
    public final int rename(Request request, long parent, Name name, long newParent, Name newName, int flags) {
        return answer(request, () -> {
            if (flags != 0) {
                return -Errno.EINVAL;
            }
            rename(path(parent, name), path(newParent, newName));
            nodes.renamed(parent, name, newParent, newName);
            return 0;
        });
    }

    @Override
    public final int open(Request request, long node, int flags, OpenReply reply) {
        return answer(request, () -> {
            boolean written = writing.containsValue(node);
            reply.handle = files.add(open(path(node), flags));
            if ((flags & Stat.O_ACCMODE) != Stat.O_RDONLY) {
                writing.put(reply.handle, node);
            }
            reply.flags = written ? OpenReply.KEEP_CACHE : 0;
            return 0;
        });
    }

    @Override
    public final int create(Request request, long parent, Name name, int mode, int flags, CreateReply reply) {
        return answer(request, () -> {
            H file = create(path(parent, name), mode, flags);
            boolean entered = false;
            try {
                int result = enter(parent, name, reply.entry);
                entered = result == 0;
                if (entered) {
                    reply.open.handle = files.add(file);
                    writing.put(reply.open.handle, reply.entry.node);
                }
                return result;
            } finally {
                if (!entered) {
                    release(file);
                }
            }
        });
    }

    @Override
    public final int read(Request request, long node, long handle, long offset, ByteBuffer into) {
        return answer(request, () -> Math.max(0, read(files.get(handle), offset, into)));
    }

    @Override
    public final int write(Request request, long node, long handle, long offset, ByteBuffer data) {
        return answer(request, () -> write(files.get(handle), offset, data));
    }

    @Override
    public final int flush(Request request, long node, long handle, long lockOwner) {
        return answer(request, () -> {
            flush(files.get(handle));
            return 0;
        });
    }

    @Override
    public final int fsync(Request request, long node, long handle, boolean dataOnly) {
        return answer(request, () -> {
            fsync(files.get(handle));
            return 0;
        });
    }

    @Override
    public final int release(Request request, long node, long handle) {
        return answer(request, () -> {
            writing.remove(handle);
            release(files.remove(handle));
            return 0;
        });
    }

    /** Takes the listing as it is now: it does not change while it is read. */
    @Override
    public final int opendir(Request request, long node, int flags, OpenReply reply) {
        return answer(request, () -> {
            List<String> names = new ArrayList<>(List.of(".", ".."));
            readdir(path(node), names::add);
            reply.handle = listings.add(names);
            return 0;
        });
    }

    @Override
    public final int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer) {
        return answer(request, () -> {
            List<String> names = listings.get(handle);
            for (int i = (int) Math.max(0, offset); i < names.size(); i++) {
                if (!add(node, names.get(i), i + 1, writer)) {
                    break;
                }
            }
            return 0;
        });
    }

    private boolean add(long node, String text, long nextOffset, DirectoryWriter writer) {
        Name name = Name.of(text);
        if (text.equals(".") || text.equals("..")) {
            return writer.add(name, nextOffset, node, Stat.S_IFDIR);
        }
        Entry entry = writer.plus() ? entered(node, name) : null;
        if (entry == null) {
            // Any number but 0 will do: the true one is given by the lookup that follows.
            return writer.add(name, nextOffset, Long.MAX_VALUE, 0);
        }
        boolean added = writer.add(name, nextOffset, entry);
        if (!added) {
            nodes.forget(entry.node, 1);
        }
        return added;
    }

    /** The entry of a name, or null when it is gone meanwhile, or cannot be shown: whoever looks it up is told why. */
    private @Nullable Entry entered(long node, Name name) {
        Entry entry = new Entry();
        try {
            return enter(node, name, entry) == 0 ? entry : null;
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    @Override
    public final int releasedir(Request request, long node, long handle) {
        return answer(request, () -> {
            listings.remove(handle);
            return 0;
        });
    }
}
