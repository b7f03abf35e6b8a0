package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.store.StoreException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A file that is read through streams, by all who have it open together. Any thread.
 *
 * <p>Who reads the same part shares a stream: the kernel keeps their pages in common and asks for each only once, so that a
 * stream for each handle would bring everything several times, and use a part of it. Who reads elsewhere gets another
 * stream, of which there are as many as handles.
 */
final class RemoteFile implements AutoCloseable {
    private static final int MAX_STREAMS = 16;

    /** Makes a reader with a stream of its own. */
    interface Maker {
        RemoteReader make();
    }

    /** A reader, and who uses it. Guarded by the file. */
    private static final class Cursor {
        private final RemoteReader reader;
        private int users;
        private long used;

        Cursor(RemoteReader reader) {
            this.reader = reader;
        }
    }

    private final long lengthBytes;
    private final Maker maker;
    private final List<Cursor> cursors = new ArrayList<>(1);
    private int handles;
    private long uses;
    private boolean closed;

    RemoteFile(long lengthBytes, Maker maker) {
        this.lengthBytes = lengthBytes;
        this.maker = maker;
    }

    long lengthBytes() {
        return lengthBytes;
    }

    /** One more handle reads it; false: it was closed meanwhile, make another. */
    synchronized boolean join() {
        if (!closed) {
            handles++;
        }
        return !closed;
    }

    /** Fills the buffer from this offset on, as far as the file goes. */
    int read(long offset, ByteBuffer into) throws StoreException {
        Cursor cursor = take(offset);
        try {
            return cursor.reader.read(offset, into);
        } finally {
            give(cursor);
        }
    }

    /** The same when all of it was fetched already; -1 when it was not, and then the buffer is as it was. Never waits. */
    int readBuffered(long offset, ByteBuffer into) {
        Cursor cursor = used(offset);
        return cursor == null ? -1 : cursor.reader.readBuffered(offset, into);
    }

    private synchronized @Nullable Cursor used(long offset) {
        Cursor cursor = suiting(offset);
        if (cursor != null) {
            cursor.used = ++uses;
        }
        return cursor;
    }

    private synchronized Cursor take(long offset) {
        Cursor cursor = suiting(offset);
        if (cursor == null) {
            cursor = idle();
        }
        cursor.users++;
        cursor.used = ++uses;
        return cursor;
    }

    private @Nullable Cursor suiting(long offset) {
        for (Cursor cursor : cursors) {
            if (cursor.reader.matches(offset)) {
                return cursor;
            }
        }
        return null;
    }

    /** A new one, as long as there are fewer than handles; else the one that was not used for longest. */
    private Cursor idle() {
        if (cursors.size() < Math.min(Math.max(1, handles), MAX_STREAMS)) {
            Cursor made = new Cursor(maker.make());
            cursors.add(made);
            return made;
        }
        Cursor best = cursors.get(0);
        for (Cursor cursor : cursors) {
            if (cursor.users < best.users || (cursor.users == best.users && cursor.used < best.used)) {
                best = cursor;
            }
        }
        return best;
    }

    private void give(Cursor cursor) {
        boolean last;
        synchronized (this) {
            cursor.users--;
            last = closed && cursor.users == 0;
        }
        if (last) {
            cursor.reader.close();
        }
    }

    /** One handle less; true: it was the last, nobody else will join, and {@link #close} is to be called. */
    synchronized boolean leave() {
        handles--;
        closed = handles == 0;
        return closed;
    }

    /** Closes the streams, those in use when they no longer are. May wait. */
    @Override
    public void close() {
        List<Cursor> idle = new ArrayList<>();
        synchronized (this) {
            for (Cursor cursor : cursors) {
                if (cursor.users == 0) {
                    idle.add(cursor);
                }
            }
        }
        idle.forEach(cursor -> cursor.reader.close());
    }
}
