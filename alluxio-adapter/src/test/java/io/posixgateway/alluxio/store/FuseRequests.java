package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.dispatch.DispatchOptions;
import io.posixgateway.fuse.dispatch.Dispatcher;
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.dispatch.MemoryExchange;
import io.posixgateway.fuse.dispatch.MemoryExchange.Offload;
import io.posixgateway.fuse.dispatch.MemoryExchange.Shape;
import io.posixgateway.fuse.dispatch.Message;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The kernel's part of a mount: each method sends one raw request through the real dispatcher and reads its answer, or throws
 * {@link FuseFailure}. Any number of threads.
 */
public final class FuseRequests implements AutoCloseable {
    /** Node id of the root. */
    public static final long ROOT = FileSystem.ROOT;

    private static final int POOL_THREADS = 16;
    private static final int READ_BYTES = 1 << 20;
    private static final int LISTING_BYTES = 1 << 16;
    private static final int MAX_XATTR_BYTES = 1 << 12;

    private final SessionMetrics metrics;
    private final Dispatcher dispatcher;
    private final RecordingKernel kernel;
    private final Deque<MemoryExchange> spare = new ConcurrentLinkedDeque<>();
    private final AtomicLong uniques = new AtomicLong();
    /** By the thread that asked. */
    private final Map<Thread, Long> inFlight = new ConcurrentHashMap<>();

    private volatile int pid;

    FuseRequests(FileSystem fileSystem, RecordingKernel kernel, Clock clock) {
        this.kernel = kernel;
        this.metrics = new SessionMetrics(clock);
        this.dispatcher =
                new Dispatcher(fileSystem, exchange -> 0, metrics, new DispatchOptions(false, POOL_THREADS, "memory"));
    }

    /** Reads an answer; what it returns does not refer to the buffer. */
    private interface Reader<T> {
        T read(ByteBuffer reply, int at, int bytes);
    }

    /** A request in parts. */
    private static final class Parts {
        private final Opcode opcode;
        private final long node;
        private final byte[] arguments;
        private final byte[] data;

        private Parts(Opcode opcode, long node, byte[] arguments, byte[] data) {
            this.opcode = opcode;
            this.node = node;
            this.arguments = arguments;
            this.data = data;
        }
    }

    private <T> T ask(Parts parts, Reader<T> reader) {
        MemoryExchange pooled = spare.poll();
        MemoryExchange exchange = pooled == null ? MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME) : pooled;
        long unique = uniques.addAndGet(2);
        exchange.asProcess(pid);
        exchange.ask(parts.opcode.code(), unique, parts.node, parts.arguments, parts.data);
        exchange.error = 0; // of the one before: some requests have no answer
        inFlight.put(Thread.currentThread(), unique);
        dispatcher.handle(exchange);
        try {
            exchange.awaitAnswer();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a request was in flight", e);
        } finally {
            inFlight.remove(Thread.currentThread());
        }
        int error = exchange.error;
        if (error != 0) {
            spare.push(exchange);
            throw new FuseFailure(parts.opcode + " of node " + parts.node, -error);
        }
        T result = reader.read(exchange.reply(), exchange.replyAt(), exchange.bodyBytes);
        spare.push(exchange);
        return result;
    }

    private void tell(Opcode opcode, long node, byte[] arguments, byte[] data) {
        ask(new Parts(opcode, node, arguments, data), (reply, at, bytes) -> bytes);
    }

    private FuseNode entry(Opcode opcode, long parent, byte[] arguments, byte[] names) {
        return ask(
                new Parts(opcode, parent, arguments, names),
                (reply, at, bytes) -> seen(parent, names, entry(reply, at)));
    }

    private FuseNode seen(long parent, byte[] names, FuseNode node) {
        int end = 0;
        while (names[end] != 0) {
            end++;
        }
        kernel.looked(parent, new String(names, 0, end, StandardCharsets.UTF_8), node.id());
        return node;
    }

    private static FuseNode entry(ByteBuffer reply, int at) {
        Duration name = Duration.ofSeconds(
                reply.getLong(at + Layouts.ENTRY_OUT_ENTRY_VALID),
                reply.getInt(at + Layouts.ENTRY_OUT_ENTRY_VALID_NSEC));
        Duration valid = Duration.ofSeconds(
                reply.getLong(at + Layouts.ENTRY_OUT_ATTR_VALID), reply.getInt(at + Layouts.ENTRY_OUT_ATTR_VALID_NSEC));
        long id = reply.getLong(at + Layouts.ENTRY_OUT_NODEID);
        return attributes(reply, at + Layouts.ENTRY_OUT_ATTR, id, name, valid);
    }

    private static FuseNode attributes(ByteBuffer reply, int at, long id, Duration name, Duration valid) {
        long millis =
                reply.getLong(at + Layouts.ATTR_MTIME) * 1000 + reply.getInt(at + Layouts.ATTR_MTIMENSEC) / 1_000_000;
        return new FuseNode(
                id,
                name,
                valid,
                reply.getLong(at + Layouts.ATTR_INO),
                reply.getInt(at + Layouts.ATTR_MODE),
                reply.getInt(at + Layouts.ATTR_UID),
                reply.getLong(at + Layouts.ATTR_SIZE),
                millis);
    }

    private static FuseNode ofAttributes(ByteBuffer reply, int at, long node) {
        Duration valid = Duration.ofSeconds(
                reply.getLong(at + Layouts.ATTR_OUT_ATTR_VALID), reply.getInt(at + Layouts.ATTR_OUT_ATTR_VALID_NSEC));
        return attributes(reply, at + Layouts.ATTR_OUT_ATTR, node, Duration.ZERO, valid);
    }

    /** Its id is 0 where the name leads nowhere and the kernel may believe that. */
    public FuseNode lookup(long parent, String name) {
        return entry(Opcode.LOOKUP, parent, Message.NOTHING, Message.names(name));
    }

    public FuseNode getattr(long node) {
        return ask(
                new Parts(Opcode.GETATTR, node, new byte[16], Message.NOTHING),
                (reply, at, bytes) -> ofAttributes(reply, at, node));
    }

    /** All that stat(2) shows and that no reading moves: nothing of it may move by itself. */
    public record Stated(
            long inode,
            int mode,
            int uid,
            int gid,
            long lengthBytes,
            long blocks,
            int links,
            Instant accessed,
            Instant modified,
            Instant changed) {}

    /** As stat(2). */
    public Stated stat(long node) {
        return ask(new Parts(Opcode.GETATTR, node, new byte[16], Message.NOTHING), (reply, head, bytes) -> {
            int at = head + Layouts.ATTR_OUT_ATTR;
            return new Stated(
                    reply.getLong(at + Layouts.ATTR_INO),
                    reply.getInt(at + Layouts.ATTR_MODE),
                    reply.getInt(at + Layouts.ATTR_UID),
                    reply.getInt(at + Layouts.ATTR_GID),
                    reply.getLong(at + Layouts.ATTR_SIZE),
                    reply.getLong(at + Layouts.ATTR_BLOCKS),
                    reply.getInt(at + Layouts.ATTR_NLINK),
                    Instant.ofEpochSecond(
                            reply.getLong(at + Layouts.ATTR_ATIME), reply.getInt(at + Layouts.ATTR_ATIMENSEC)),
                    Instant.ofEpochSecond(
                            reply.getLong(at + Layouts.ATTR_MTIME), reply.getInt(at + Layouts.ATTR_MTIMENSEC)),
                    Instant.ofEpochSecond(
                            reply.getLong(at + Layouts.ATTR_CTIME), reply.getInt(at + Layouts.ATTR_CTIMENSEC)));
        });
    }

    /** As truncate(2). */
    public FuseNode truncate(long node, long lengthBytes) {
        return setattr(node, SetAttributes.SIZE, changes -> changes.putLong(Layouts.SETATTR_IN_SIZE, lengthBytes));
    }

    /** As ftruncate(2). */
    public FuseNode truncate(Opened file, long lengthBytes) {
        int valid = SetAttributes.SIZE | SetAttributes.HANDLE;
        return setattr(file.node.id(), valid, changes -> changes.putLong(Layouts.SETATTR_IN_SIZE, lengthBytes)
                .putLong(Layouts.SETATTR_IN_FH, file.handle));
    }

    public FuseNode chmod(long node, int mode) {
        return setattr(node, SetAttributes.MODE, changes -> changes.putInt(Layouts.SETATTR_IN_MODE, mode));
    }

    public FuseNode chown(long node, int uid) {
        return setattr(node, SetAttributes.UID, changes -> changes.putInt(Layouts.SETATTR_IN_UID, uid));
    }

    /** As utimensat(2), of the time of the last change of the content. */
    public FuseNode setModified(long node, Duration sinceEpoch) {
        return setattr(node, SetAttributes.MODIFY_TIME, changes -> changes.putLong(
                        Layouts.SETATTR_IN_MTIME, sinceEpoch.toSeconds())
                .putInt(Layouts.SETATTR_IN_MTIMENSEC, sinceEpoch.toNanosPart()));
    }

    /** @param valid bits of {@link SetAttributes} for what is put in, at offsets of {@link Layouts} */
    public FuseNode setattr(long node, int valid, Consumer<ByteBuffer> changes) {
        byte[] arguments = new byte[Opcode.SETATTR.argumentBytes()];
        ByteBuffer into = ByteBuffer.wrap(arguments).order(ByteOrder.nativeOrder());
        into.putInt(Layouts.SETATTR_IN_VALID, valid);
        changes.accept(into);
        return ask(
                new Parts(Opcode.SETATTR, node, arguments, Message.NOTHING),
                (reply, at, bytes) -> ofAttributes(reply, at, node));
    }

    public void setxattr(long node, String name, String value) {
        byte[] bytes = Message.bytes(value);
        byte[] arguments = new Message().int32(bytes.length).int32(0).done();
        byte[] data = new Message().text(name).raw(bytes).done();
        tell(Opcode.SETXATTR, node, arguments, data);
    }

    public void removexattr(long node, String name) {
        tell(Opcode.REMOVEXATTR, node, Message.NOTHING, Message.names(name));
    }

    public String getxattr(long node, String name) {
        byte[] arguments = new Message().int32(MAX_XATTR_BYTES).int32(0).done();
        return text(new Parts(Opcode.GETXATTR, node, arguments, Message.names(name)));
    }

    public List<String> listxattr(long node) {
        byte[] arguments = new Message().int32(MAX_XATTR_BYTES).int32(0).done();
        String all = text(new Parts(Opcode.LISTXATTR, node, arguments, Message.NOTHING));
        return all.isEmpty() ? List.of() : List.of(all.split("\0"));
    }

    /** An open file: its node, and the number by which the file system knows it. */
    public record Opened(FuseNode node, long handle, int flags) {}

    public Opened create(long parent, String name, int mode, int flags) {
        return created(Opcode.CREATE, parent, name, mode, flags);
    }

    /** As open(2) with O_TMPFILE. */
    public Opened tmpfile(long parent, int mode) {
        return created(Opcode.TMPFILE, parent, "/", mode, Stat.O_RDWR);
    }

    private Opened created(Opcode opcode, long parent, String name, int mode, int flags) {
        byte[] arguments =
                new Message().int32(flags).int32(mode).int32(0).int32(0).done();
        byte[] names = Message.names(name);
        return ask(new Parts(opcode, parent, arguments, names), (reply, at, bytes) -> {
            int open = at + Layouts.ENTRY_OUT_BYTES;
            return new Opened(
                    seen(parent, names, entry(reply, at)),
                    reply.getLong(open + Layouts.OPEN_OUT_FH),
                    reply.getInt(open + Layouts.OPEN_OUT_OPEN_FLAGS));
        });
    }

    public Opened open(FuseNode node, int flags) {
        return opened(Opcode.OPEN, node, flags);
    }

    private Opened opened(Opcode opcode, FuseNode node, int flags) {
        byte[] arguments = new Message().int32(flags).int32(0).done();
        return ask(
                new Parts(opcode, node.id(), arguments, Message.NOTHING),
                (reply, at, bytes) -> new Opened(
                        node, reply.getLong(at + Layouts.OPEN_OUT_FH), reply.getInt(at + Layouts.OPEN_OUT_OPEN_FLAGS)));
    }

    /** At most a MiB; fewer bytes only at the end of the file. */
    public byte[] read(Opened file, long offset, int count) {
        byte[] arguments = Message.transfer(file.handle, offset, Math.min(count, READ_BYTES));
        return ask(new Parts(Opcode.READ, file.node.id(), arguments, Message.NOTHING), (reply, at, bytes) -> {
            byte[] content = new byte[bytes];
            reply.get(at, content);
            return content;
        });
    }

    public int write(Opened file, long offset, byte[] data) {
        byte[] arguments = Message.transfer(file.handle, offset, data.length);
        return ask(new Parts(Opcode.WRITE, file.node.id(), arguments, data), (reply, at, bytes) -> reply.getInt(at));
    }

    /** As fallocate(2). */
    public void fallocate(Opened file, int mode, long offset, long lengthBytes) {
        byte[] arguments = new Message()
                .int64(file.handle)
                .int64(offset)
                .int64(lengthBytes)
                .int32(mode)
                .int32(0)
                .done();
        tell(Opcode.FALLOCATE, file.node.id(), arguments, Message.NOTHING);
    }

    /** All that is asked from now on is asked by this process. */
    public void asProcess(int asking) {
        pid = asking;
    }

    /** One descriptor is closed. */
    public void flush(Opened file) {
        byte[] arguments = new Message().int64(file.handle).int64(0).int64(0).done();
        tell(Opcode.FLUSH, file.node.id(), arguments, Message.NOTHING);
    }

    public void fsync(Opened file) {
        byte[] arguments = new Message().int64(file.handle).int64(0).done();
        tell(Opcode.FSYNC, file.node.id(), arguments, Message.NOTHING);
    }

    /** The last descriptor was closed. */
    public void release(Opened file) {
        byte[] arguments = new Message().int64(file.handle).int64(0).int64(0).done();
        tell(Opcode.RELEASE, file.node.id(), arguments, Message.NOTHING);
    }

    public FuseNode mkdir(long parent, String name, int mode) {
        byte[] arguments = new Message().int32(mode).int32(0).done();
        return entry(Opcode.MKDIR, parent, arguments, Message.names(name));
    }

    public FuseNode symlink(long parent, String name, String target) {
        return entry(Opcode.SYMLINK, parent, Message.NOTHING, Message.names(name, target));
    }

    public FuseNode link(long node, long newParent, String newName) {
        return entry(Opcode.LINK, newParent, new Message().int64(node).done(), Message.names(newName));
    }

    public String readlink(long node) {
        return text(new Parts(Opcode.READLINK, node, Message.NOTHING, Message.NOTHING));
    }

    private String text(Parts parts) {
        return ask(parts, (reply, at, bytes) -> {
            byte[] text = new byte[bytes];
            reply.get(at, text);
            return Message.text(text);
        });
    }

    public void unlink(long parent, String name) {
        tell(Opcode.UNLINK, parent, Message.NOTHING, Message.names(name));
    }

    public void rmdir(long parent, String name) {
        tell(Opcode.RMDIR, parent, Message.NOTHING, Message.names(name));
    }

    /** A directory and a name in it. */
    public record Place(long parent, String name) {}

    /** @param flags of renameat2(2) */
    public void rename(Place from, Place to, int flags) {
        byte[] arguments = new Message().int64(to.parent).int32(flags).int32(0).done();
        tell(Opcode.RENAME2, from.parent, arguments, Message.names(from.name, to.name));
    }

    public void forget(long node, long lookups) {
        kernel.forgot(node, lookups);
        tell(Opcode.FORGET, node, new Message().int64(lookups).done(), Message.NOTHING);
    }

    public Opened opendir(FuseNode directory) {
        return opened(Opcode.OPENDIR, directory, 0);
    }

    /** A name in a listing. */
    public record Listed(String name, long inode, long nextOffset) {}

    /** One reply of a listing; empty: it ends. */
    public List<Listed> readdir(Opened directory, long offset) {
        return readdir(directory, offset, LISTING_BYTES);
    }

    /** The same with room for so many bytes. */
    public List<Listed> readdir(Opened directory, long offset, int roomBytes) {
        byte[] arguments = Message.transfer(directory.handle, offset, roomBytes);
        return ask(
                new Parts(Opcode.READDIR, directory.node.id(), arguments, Message.NOTHING),
                (reply, at, bytes) -> listed(reply, at, at + bytes));
    }

    private static List<Listed> listed(ByteBuffer reply, int from, int end) {
        List<Listed> names = new ArrayList<>();
        for (int at = from; at < end; ) {
            byte[] name = new byte[reply.getInt(at + Layouts.DIRENT_NAMELEN)];
            reply.get(at + Layouts.DIRENT_BYTES, name);
            names.add(new Listed(
                    Message.text(name),
                    reply.getLong(at + Layouts.DIRENT_INO),
                    reply.getLong(at + Layouts.DIRENT_OFF)));
            at += (Layouts.DIRENT_BYTES + name.length + 7) & ~7;
        }
        return names;
    }

    public void releasedir(Opened directory) {
        byte[] arguments =
                new Message().int64(directory.handle).int64(0).int64(0).done();
        tell(Opcode.RELEASEDIR, directory.node.id(), arguments, Message.NOTHING);
    }

    /** The program of this thread is killed: its request is interrupted as soon as it waits for the store, or for another's wait. */
    public void interrupt(Thread asking) throws InterruptedException {
        long unique = signal(asking);
        Eventually.holds(
                "it waits",
                () -> dispatcher.interruptRemote(unique, 0) || !Objects.equals(inFlight.get(asking), unique));
    }

    /** The program of this thread gets a signal; returns the number of its request, which still waits. */
    public long signal(Thread asking) throws InterruptedException {
        Eventually.holds("it asks", () -> inFlight.containsKey(asking));
        long unique = inFlight.getOrDefault(asking, 0L);
        MemoryExchange signal = MemoryExchange.of(Shape.CONTIGUOUS, Offload.SAME);
        byte[] arguments = new Message().int64(unique).done();
        signal.ask(Opcode.INTERRUPT.code(), uniques.addAndGet(2), 0, arguments, Message.NOTHING);
        dispatcher.handle(signal);
        return unique;
    }

    /** As the watchdog sees the requests. */
    public List<InFlightRequest> inFlight(long atLeastNanos) {
        return dispatcher.inFlight(atLeastNanos);
    }

    /** As the watchdog ends the call that a request waits for. */
    public boolean interruptRemote(long unique, long atLeastNanos) {
        return dispatcher.interruptRemote(unique, atLeastNanos);
    }

    /** What the dispatcher counted. */
    public SessionMetrics metrics() {
        return metrics;
    }

    /** ENOENT, as a failure. */
    static FuseFailure missing(String path) {
        return new FuseFailure(path, Errno.ENOENT);
    }

    @Override
    public void close() {
        dispatcher.close();
    }
}
