package io.posixgateway.fuse.session;

import io.posixgateway.fuse.spi.Name;
import java.nio.ByteBuffer;

/** Notifications as the kernel reads them (linux/fuse.h). Each method puts one at a place of a buffer, and tells its bytes. */
final class NotificationFormat {
    static final int HEADER_BYTES = 16;
    /** Header, the longest fixed part, a name and its NUL. */
    static final int MAX_BYTES = HEADER_BYTES + 24 + Name.MAX_BYTES + 1;

    /** Of a message with bytes for a file, behind the header and before them. */
    static final int STORE_BYTES = 24;

    private static final int INVAL_INODE = 2;
    private static final int INVAL_ENTRY = 3;
    private static final int STORE = 4;
    private static final int DELETE = 6;
    private static final int RESEND = 7;

    private NotificationFormat() {}

    static int invalidateInode(ByteBuffer out, int at, long node, long offset, long lengthBytes) {
        out.putLong(at + HEADER_BYTES, node);
        out.putLong(at + HEADER_BYTES + 8, offset);
        out.putLong(at + HEADER_BYTES + 16, lengthBytes);
        return header(out, at, INVAL_INODE, 24);
    }

    static int invalidateEntry(ByteBuffer out, int at, long parent, Name name) {
        out.putLong(at + HEADER_BYTES, parent);
        out.putInt(at + HEADER_BYTES + 8, name.length());
        out.putInt(at + HEADER_BYTES + 12, 0);
        return header(out, at, INVAL_ENTRY, named(out, at, 16, name));
    }

    static int delete(ByteBuffer out, int at, long parent, long child, Name name) {
        out.putLong(at + HEADER_BYTES, parent);
        out.putLong(at + HEADER_BYTES + 8, child);
        out.putInt(at + HEADER_BYTES + 16, name.length());
        out.putInt(at + HEADER_BYTES + 20, 0);
        return header(out, at, DELETE, named(out, at, 24, name));
    }

    /** At the beginning of a buffer; {@link #MAX_BYTES} are too few for it. */
    static int store(ByteBuffer out, long node, long offset, ByteBuffer from, int count) {
        out.putLong(HEADER_BYTES, node);
        out.putLong(HEADER_BYTES + 8, offset);
        out.putInt(HEADER_BYTES + 16, count);
        out.put(HEADER_BYTES + STORE_BYTES, from, from.position(), count);
        return header(out, 0, STORE, STORE_BYTES + count);
    }

    static int resend(ByteBuffer out) {
        return header(out, 0, RESEND, 0);
    }

    private static int named(ByteBuffer out, int at, int fixedBytes, Name name) {
        out.position(at + HEADER_BYTES + fixedBytes);
        name.putInto(out);
        out.put((byte) 0).position(0);
        return fixedBytes + name.length() + 1;
    }

    private static int header(ByteBuffer out, int at, int code, int bodyBytes) {
        out.putInt(at, HEADER_BYTES + bodyBytes);
        out.putInt(at + 4, code);
        out.putLong(at + 8, 0);
        return HEADER_BYTES + bodyBytes;
    }
}
