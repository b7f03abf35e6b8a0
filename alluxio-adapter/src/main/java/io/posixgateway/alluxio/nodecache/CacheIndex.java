package io.posixgateway.alluxio.nodecache;

import io.posixgateway.alluxio.journal.JournalFrame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The index of a cache folder: a file of {@link JournalFrame}s, each with its length and CRC32C, to which is only appended until it is
 * compacted. A piece is added before it takes its name and removed after it lost it, so the index names at least all pieces there are; one
 * that is missing is noticed at its first use. No record waits for the disk: after the end of a node, each proves itself
 * by its CRC.
 *
 * <pre>
 *   head: format, length of pieces      add, remove: entries of {tenant, file id, length, mtime, piece, crc}
 * </pre>
 *
 * <p>Calls come one at a time, under the cache's lock of the disk.
 */
final class CacheIndex {
    static final String FILE = "index";
    /** What an entry of its own takes. */
    static final int RECORD_BYTES = JournalFrame.HEAD_BYTES + 4 * Long.BYTES + 2 * Integer.BYTES;

    private static final String FRESH = "tmp/index";
    private static final int FORMAT = 1;
    private static final int HEAD = 1;
    private static final int ADD = 2;
    private static final int REMOVE = 3;
    private static final int ENTRY_BYTES = RECORD_BYTES - JournalFrame.HEAD_BYTES;
    private static final int ENTRIES_TOGETHER = 16_000;
    /** A file that is longer than its pieces need by less is not compacted. */
    private static final int SLACK_BYTES = 1 << 20;

    private final FolderDisk disk;
    private long fileBytes;
    /** Behind its end there may be a part of a record; or it lacks some. */
    private boolean isIncomplete = true;

    CacheIndex(FolderDisk disk) {
        this.disk = disk;
    }

    /** What a record does, for each piece that it names. */
    interface Visitor {
        void added(Piece piece);

        void removed(Piece piece);
    }

    /** Reads what is there; false: it is not known what the folder holds. */
    boolean load(Visitor visitor) throws IOException {
        Loader loader = new Loader(visitor);
        ByteBuffer bytes = disk.map(FILE);
        int end = JournalFrame.visit(bytes, loader::frame);
        fileBytes = bytes.limit();
        isIncomplete = !loader.isKnown || end < fileBytes;
        return loader.isKnown;
    }

    private static final class Loader {
        private final Visitor visitor;
        private final Map<Long, Tenant> tenants = new HashMap<>();
        private CacheKey last = new CacheKey(new Tenant(0), 0, 0, 0);
        private boolean isKnown;

        Loader(Visitor visitor) {
            this.visitor = visitor;
        }

        void frame(JournalFrame frame) {
            ByteBuffer payload = frame.payload();
            if (frame.kind() == HEAD) {
                isKnown = payload.equals(head());
            } else if (isKnown) {
                while (payload.remaining() >= ENTRY_BYTES) {
                    Piece piece = piece(payload);
                    if (frame.kind() == ADD) {
                        visitor.added(piece);
                    } else {
                        visitor.removed(piece);
                    }
                }
            }
        }

        private Piece piece(ByteBuffer from) {
            Tenant tenant = tenants.computeIfAbsent(from.getLong(), Tenant::new);
            CacheKey file = new CacheKey(tenant, from.getLong(), from.getLong(), from.getLong());
            last = file.equals(last) ? last : file; // pieces of a file share it
            return new Piece(last, from.getInt(), from.getInt(), false);
        }
    }

    private static ByteBuffer head() {
        return ByteBuffer.allocate(2 * Integer.BYTES)
                .putInt(FORMAT)
                .putInt(CacheKey.PIECE_BYTES)
                .flip();
    }

    void add(Piece piece) throws IOException {
        append(List.of(frame(ADD, List.of(piece))));
    }

    void remove(List<Piece> pieces) throws IOException {
        append(frames(REMOVE, pieces));
    }

    private void append(List<JournalFrame> frames) throws IOException {
        ByteBuffer bytes = bytes(frames);
        boolean before = isIncomplete;
        isIncomplete = true;
        disk.append(FILE, bytes);
        fileBytes += bytes.limit();
        isIncomplete = before;
    }

    /** Is it to be compacted? */
    boolean wantsRewrite(int pieces) {
        return isIncomplete || fileBytes > SLACK_BYTES + (long) pieces * RECORD_BYTES;
    }

    /** Has these in the place of all others. */
    void rewrite(Collection<Piece> pieces) throws IOException {
        List<JournalFrame> frames = new ArrayList<>();
        frames.add(frame(HEAD, head()));
        frames.addAll(frames(ADD, List.copyOf(pieces)));
        ByteBuffer bytes = bytes(frames);
        disk.write(FRESH, List.of(bytes), true);
        disk.rename(FRESH, FILE);
        fileBytes = bytes.limit();
        isIncomplete = false;
    }

    private static List<JournalFrame> frames(int kind, List<Piece> pieces) {
        List<JournalFrame> frames = new ArrayList<>();
        for (int i = 0; i < pieces.size(); i += ENTRIES_TOGETHER) {
            frames.add(frame(kind, pieces.subList(i, Math.min(pieces.size(), i + ENTRIES_TOGETHER))));
        }
        return frames;
    }

    private static JournalFrame frame(int kind, List<Piece> pieces) {
        ByteBuffer payload = ByteBuffer.allocate(pieces.size() * ENTRY_BYTES);
        for (Piece piece : pieces) {
            CacheKey file = piece.file;
            payload.putLong(file.tenant().id()).putLong(file.fileId());
            payload.putLong(file.lengthBytes()).putLong(file.version());
            payload.putInt(piece.index).putInt(piece.crc);
        }
        return frame(kind, payload.flip());
    }

    private static JournalFrame frame(int kind, ByteBuffer payload) {
        return new JournalFrame(kind, FORMAT, FORMAT, 0, 0, JournalFrame.Subject.NONE, payload);
    }

    private static ByteBuffer bytes(List<JournalFrame> frames) {
        ByteBuffer bytes = ByteBuffer.allocate(
                frames.stream().mapToInt(JournalFrame::lengthBytes).sum());
        frames.forEach(frame -> frame.putInto(bytes));
        return bytes.flip();
    }
}
