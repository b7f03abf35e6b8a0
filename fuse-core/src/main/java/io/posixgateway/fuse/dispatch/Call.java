package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.metrics.CallerProcess;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileLock;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.StatFs;
import io.posixgateway.fuse.transport.Exchange;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A request being executed: the decoded header, and every object that the file system is lent.
 *
 * <p>One per exchange, used again for request after request. It belongs to the thread that handles the request; the pool's
 * queue hands it from one to the next. Only {@link #interrupted} is written by others.
 */
final class Call implements Request {
    /** In {@link #beganNanos}: there is no request. */
    static final long IDLE = Long.MIN_VALUE;

    private static final int ROOT = 0;
    /** In the place of a user or a group: the kernel does not tell. */
    private static final int UNKNOWN = -1;

    final Name name = new Name();
    final Name newName = new Name();
    final Entry entry = new Entry();
    final Attributes attributes = new Attributes();
    final SetAttributes changes = new SetAttributes();
    final OpenReply open = new OpenReply();
    final FileSystem.CreateReply created = new FileSystem.CreateReply();
    final StatFs statFs = new StatFs();
    final FileLock lock = new FileLock();
    final FileSystem.CopyRange range = new FileSystem.CopyRange();
    final ReaddirWriter listing = new ReaddirWriter();

    Opcode opcode = Opcode.UNKNOWN;
    long node;
    int umask;
    /** Set by the operations that change content; a caller who is not root counts as one without privileges. */
    boolean killsPrivileges;

    boolean mayWait;
    long beganNanos = IDLE;
    volatile boolean interrupted;

    /** A limit holds it up; set to false after {@link #beganNanos} was advanced by that time. */
    volatile boolean delayed;
    /** Since when, by the clock. */
    long delayedSinceNanos;
    /** Tokens that it took of a limit of bytes. */
    long reservedBytes;

    /** It took one of the limit of requests, or there is none. */
    boolean hasRequestToken;

    /**
     * Who works on it; null: nobody. Written plainly, as {@link #beganNanos} and {@link #opcode} are: whoever looks from outside
     * may see them a little late, and looks twice.
     */
    @Nullable
    Thread thread;

    /** The calls of the thread that works on it, while it may wait. */
    volatile @Nullable RemoteCalls remote;

    private Exchange exchange;
    private ByteBuffer room;
    private ByteBuffer data;
    private int dataAt;
    private boolean namesTaken;
    private boolean twoNames;
    private boolean ended;
    private long unique;
    private int uid;
    private int gid;
    private int pid;

    Call(Exchange exchange) {
        this.exchange = exchange;
        this.room = roomOf(exchange);
        this.data = exchange.payload();
        this.dataAt = -1;
    }

    /** Goes on with the same request in another exchange, which holds a copy of the message. */
    void moveTo(Exchange other) {
        exchange = other;
        room = roomOf(other);
        dataAt = -1;
    }

    private static ByteBuffer roomOf(Exchange exchange) {
        return exchange.reply().slice(exchange.replyAt(), exchange.replyCapacity());
    }

    /** Reads the header of a new request; {@link #beganNanos} is to be set. */
    void begin() {
        ByteBuffer header = exchange.header();
        int at = exchange.headerAt();
        opcode = Opcode.of(header.getInt(at + Layouts.IN_HEADER_OPCODE));
        unique = header.getLong(at + Layouts.IN_HEADER_UNIQUE);
        node = header.getLong(at + Layouts.IN_HEADER_NODEID);
        uid = header.getInt(at + Layouts.IN_HEADER_UID);
        gid = header.getInt(at + Layouts.IN_HEADER_GID);
        pid = header.getInt(at + Layouts.IN_HEADER_PID);
        umask = 0;
        killsPrivileges = false;
        mayWait = false;
        interrupted = false;
        namesTaken = false;
        twoNames = false;
        ended = false;
        thread = Thread.currentThread();
    }

    /** It is about to be answered. */
    void end() {
        ended = true;
        beganNanos = IDLE;
        thread = null;
    }

    /** Was it answered, or is about to be? */
    boolean hasEnded() {
        return ended;
    }

    /** It waits in the pool's queue. */
    void rest() {
        thread = null;
    }

    boolean namesTaken() {
        return namesTaken;
    }

    /** The second of two names; null: there was one. */
    @Nullable
    Name secondName() {
        return twoNames ? newName : null;
    }

    Exchange exchange() {
        return exchange;
    }

    /** Is the message as long as its opcode's arguments? Before anything is read of them. */
    boolean complete() {
        return payloadBytes() >= 0;
    }

    int payloadBytes() {
        return exchange.payloadBytes(opcode.argumentBytes());
    }

    int int32(int offset) {
        return exchange.arguments().getInt(exchange.argumentsAt() + offset);
    }

    long int64(int offset) {
        return exchange.arguments().getLong(exchange.argumentsAt() + offset);
    }

    /** The place of the reply's body, for absolute puts. */
    ByteBuffer reply() {
        return exchange.reply();
    }

    int replyAt() {
        return exchange.replyAt();
    }

    /** The reply's body as a buffer to lend: at position 0, limited to what is asked and what there is. */
    ByteBuffer room(int bytes) {
        return room.position(0).limit(Math.max(0, Math.min(bytes, room.capacity())));
    }

    /** The payload as a buffer to lend; the same object while the offset stays the same, as it does for writes. */
    ByteBuffer data(int bytes) {
        int at = exchange.payloadAt(opcode.argumentBytes());
        if (at != dataAt) {
            data = exchange.payload().slice(at, exchange.payload().capacity() - at);
            dataAt = at;
        }
        return data.position(0).limit(bytes);
    }

    /** A part of the payload behind its names, as a buffer to lend. */
    ByteBuffer dataBehindNames(int from, int bytes) {
        return exchange.payload().slice(exchange.payloadAt(opcode.argumentBytes()) + from, bytes);
    }

    /** Copies the payload's file name; 0 or a negative errno. Done once, before the reply may overwrite it. */
    int takeName() {
        return takeNames(false);
    }

    /** 1 or 2 where the payload's file name is "." or "..", by which the kernel asks for nodes; else 0. */
    int dots() {
        int end = namesTaken ? -1 : endOfText(0);
        if (end < 1 || end > 2) {
            return 0;
        }
        int at = exchange.payloadAt(opcode.argumentBytes());
        boolean only = exchange.payload().get(at) == '.' && exchange.payload().get(at + end - 1) == '.';
        return only ? end : 0;
    }

    /** Copies both of the payload's file names. */
    int takeTwoNames() {
        return takeNames(true);
    }

    private int takeNames(boolean two) {
        if (namesTaken) {
            return 0;
        }
        twoNames = two;
        int end = takeName(name, 0, true);
        if (end >= 0 && two) {
            end = takeName(newName, end + 1, true);
        }
        namesTaken = end >= 0;
        return Math.min(end, 0);
    }

    /** Copies the name of an extended attribute, which may hold a slash; its length, or a negative errno. */
    int takeAttributeName() {
        if (!namesTaken) {
            int end = takeName(name, 0, false);
            if (end < 0) {
                return end;
            }
            namesTaken = true;
        }
        return name.length();
    }

    /** The bytes behind the first name up to the next NUL; null when there is none. Later calls need the payload intact. */
    byte @Nullable [] textBehindName() {
        int from = name.length() + 1;
        int end = endOfText(from);
        if (end < 0) {
            return null;
        }
        byte[] text = new byte[end - from];
        exchange.payload().get(exchange.payloadAt(opcode.argumentBytes()) + from, text);
        return text;
    }

    private int takeName(Name into, int from, boolean file) {
        int end = endOfText(from);
        if (end <= from) {
            return -Errno.EINVAL;
        }
        if (end - from > Name.MAX_BYTES) {
            return -Errno.ENAMETOOLONG;
        }
        into.set(exchange.payload(), exchange.payloadAt(opcode.argumentBytes()) + from, end - from);
        return file && leadsElsewhere(into) ? -Errno.EINVAL : end;
    }

    /** Where the NUL is that ends the text from here, relative to the payload; -1: nowhere. */
    private int endOfText(int from) {
        ByteBuffer payload = exchange.payload();
        int at = exchange.payloadAt(opcode.argumentBytes());
        int bytes = payloadBytes();
        for (int i = from; i < bytes; i++) {
            if (payload.get(at + i) == 0) {
                return i;
            }
        }
        return -1;
    }

    /** The kernel sends no such name; a file system that makes paths of names must not see one either. */
    private static boolean leadsElsewhere(Name name) {
        if (name.length() <= 2 && name.at(0) == '.' && name.at(name.length() - 1) == '.') {
            return true;
        }
        for (int i = 0; i < name.length(); i++) {
            if (name.at(i) == '/') {
                return true;
            }
        }
        return false;
    }

    @Override
    public long unique() {
        return unique & ~Layouts.UNIQUE_RESEND;
    }

    @Override
    public boolean resent() {
        return (unique & Layouts.UNIQUE_RESEND) != 0;
    }

    @Override
    public int uid() {
        return uid;
    }

    @Override
    public int gid() {
        return gid;
    }

    @Override
    public boolean isRoot() {
        return uid == ROOT || (uid == UNKNOWN && CallerProcess.isRoot(pid));
    }

    /** Is it known to be somebody else than root? For what the kernel says itself where it does not tell the user. */
    boolean isKnownNotRoot() {
        return uid != ROOT && uid != UNKNOWN;
    }

    @Override
    public boolean inGroup(int group) {
        return (gid != UNKNOWN && group == gid) || CallerProcess.isInGroup(pid, group);
    }

    @Override
    public boolean killsPrivileges() {
        return killsPrivileges;
    }

    @Override
    public int pid() {
        return pid;
    }

    @Override
    public int umask() {
        return umask;
    }

    @Override
    public boolean mayWait() {
        return mayWait;
    }

    @Override
    public boolean interrupted() {
        return interrupted;
    }
}
