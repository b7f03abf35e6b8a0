package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.wire.Layouts;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Puts directory entries into a reply, each padded to eight bytes, until the next does not fit. */
final class ReaddirWriter implements DirectoryWriter {
    private static final int TYPE_SHIFT = 12;
    private static final int TYPE_MASK = 017;

    private final Entry nameless = new Entry();
    private ByteBuffer room = ByteBuffer.allocate(0);
    private boolean plus;

    /** @param room the reply's body, at position 0, limited to what the kernel takes */
    void begin(ByteBuffer room, boolean plus) {
        this.room = room.order(ByteOrder.nativeOrder());
        this.plus = plus;
    }

    /** Bytes put so far. */
    int bytes() {
        return room.position();
    }

    @Override
    public boolean plus() {
        return plus;
    }

    @Override
    public boolean add(Name name, long nextOffset, long inode, int type) {
        if (!fits(name)) {
            return false;
        }
        if (plus) {
            nameless.attributes.inode = inode;
            nameless.attributes.mode = type;
            putEntry(nameless);
        }
        putName(name, nextOffset, inode, type);
        return true;
    }

    @Override
    public boolean add(Name name, long nextOffset, Entry entry) {
        if (!fits(name)) {
            return false;
        }
        if (plus) {
            putEntry(entry);
        }
        long inode = entry.attributes.inode != 0 ? entry.attributes.inode : entry.node;
        putName(name, nextOffset, inode, entry.attributes.mode);
        return true;
    }

    private boolean fits(Name name) {
        return padded((plus ? Layouts.ENTRY_OUT_BYTES : 0) + Layouts.DIRENT_BYTES + name.length()) <= room.remaining();
    }

    private static int padded(int bytes) {
        return (bytes + Long.BYTES - 1) & -Long.BYTES;
    }

    private void putEntry(Entry entry) {
        int at = room.position();
        room.position(at + ReplyWriter.entry(room, at, entry));
    }

    private void putName(Name name, long nextOffset, long inode, int type) {
        int at = room.position();
        room.putLong(at + Layouts.DIRENT_INO, inode);
        room.putLong(at + Layouts.DIRENT_OFF, nextOffset);
        room.putInt(at + Layouts.DIRENT_NAMELEN, name.length());
        room.putInt(at + Layouts.DIRENT_TYPE, type >> TYPE_SHIFT & TYPE_MASK);
        room.position(at + Layouts.DIRENT_BYTES);
        name.putInto(room);
        while (room.position() % Long.BYTES != 0) {
            room.put((byte) 0);
        }
    }
}
