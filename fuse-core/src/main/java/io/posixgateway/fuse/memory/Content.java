package io.posixgateway.fuse.memory;

import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one file: chunks of 4 KiB, a missing one being a hole; found through pages of 512 chunks and books of 512 pages.
 *
 * <p>Guarded by the lock of its inode. Invariant: what lies behind the size in the last chunk is zero, so that growing shows
 * zeros.
 */
final class Content {
    static final int CHUNK_BYTES = 1 << 12;
    /** Files do not grow beyond 16 TiB (EFBIG). */
    static final long MAX_BYTES = 1L << 44;

    private static final long PAGE_BYTES = 512L * CHUNK_BYTES;
    private static final long BOOK_BYTES = 512L * PAGE_BYTES;
    private static final Book[] EMPTY = {};
    private static final byte[] ZEROS = new byte[CHUNK_BYTES];

    private final Space space;
    private @Nullable Book[] books = EMPTY;
    private long sizeBytes;
    private long chunks;

    private static final class Chunk {
        final byte[] bytes = new byte[CHUNK_BYTES];
    }

    private static final class Page {
        final @Nullable Chunk[] chunks = new @Nullable Chunk[(int) (PAGE_BYTES / CHUNK_BYTES)];
    }

    private static final class Book {
        final @Nullable Page[] pages = new @Nullable Page[(int) (BOOK_BYTES / PAGE_BYTES)];
    }

    Content(Space space) {
        this.space = space;
    }

    long sizeBytes() {
        return sizeBytes;
    }

    /** Bytes that are really held. */
    long heldBytes() {
        return chunks * CHUNK_BYTES;
    }

    int read(long offset, ByteBuffer into) {
        int wanted = (int) Math.max(0, Math.min(into.limit(), sizeBytes - offset));
        int done = 0;
        while (done < wanted) {
            int at = inChunk(offset + done);
            int part = Math.min(wanted - done, CHUNK_BYTES - at);
            Chunk chunk = chunk(offset + done);
            into.put(done, chunk != null ? chunk.bytes : ZEROS, at, part);
            done += part;
        }
        return wanted;
    }

    /** Returns the bytes taken, which may be fewer than given when space runs out, or a negative errno if none was. */
    int write(long offset, ByteBuffer data) {
        int wanted = data.limit();
        if (offset > MAX_BYTES - wanted) {
            return -Errno.EFBIG;
        }
        int done = 0;
        while (done < wanted) {
            Chunk chunk = makeChunk(offset + done);
            if (chunk == null) {
                break;
            }
            int at = inChunk(offset + done);
            int part = Math.min(wanted - done, CHUNK_BYTES - at);
            data.get(done, chunk.bytes, at, part);
            done += part;
        }
        if (done > 0) {
            sizeBytes = Math.max(sizeBytes, offset + done);
        }
        return done == 0 && wanted > 0 ? -Errno.ENOSPC : done;
    }

    /** Cuts, or grows by a hole. */
    int resize(long newBytes) {
        if (newBytes > MAX_BYTES) {
            return -Errno.EFBIG;
        }
        if (newBytes <= sizeBytes) {
            clear(newBytes, books.length * BOOK_BYTES);
        }
        sizeBytes = newBytes;
        return 0;
    }

    /** Holds the range for real, as zeros where there was a hole; nothing is kept when there is not space for all of it. */
    int allocate(long offset, long bytes) {
        long end = offset + bytes;
        if (end > MAX_BYTES) {
            return -Errno.EFBIG;
        }
        long missing = 0;
        if (offset < end && end - offset > space.capacityBytes()) {
            return -Errno.ENOSPC;
        }
        for (long at = roundDown(offset); at < end; at += CHUNK_BYTES) {
            missing += chunk(at) == null ? CHUNK_BYTES : 0;
            if (missing > space.freeBytes()) {
                return -Errno.ENOSPC;
            }
        }
        for (long at = roundDown(offset); at < end; at += CHUNK_BYTES) {
            if (makeChunk(at) == null) {
                return -Errno.ENOSPC;
            }
        }
        return 0;
    }

    /** Makes the range read as zeros, freeing the chunks that lie wholly in it. */
    void clear(long from, long to) {
        long at = from;
        while (at < to) {
            long next = Math.min(to, roundDown(at) + CHUNK_BYTES);
            if (page(at) == null) {
                next = Math.min(to, behindEmpty(at));
            } else if (next - at == CHUNK_BYTES) {
                dropChunk(at);
            } else {
                Chunk chunk = chunk(at);
                if (chunk != null) {
                    Arrays.fill(chunk.bytes, inChunk(at), (int) (next - roundDown(at)), (byte) 0);
                }
            }
            at = next;
        }
    }

    /** Makes the range read as zeros and keeps its chunks. */
    void zero(long from, long to) {
        for (long at = from; at < to; at = roundDown(at) + CHUNK_BYTES) {
            Chunk chunk = chunk(at);
            if (chunk != null) {
                long end = Math.min(to, roundDown(at) + CHUNK_BYTES);
                Arrays.fill(chunk.bytes, inChunk(at), (int) (end - roundDown(at)), (byte) 0);
            }
        }
    }

    /** The end of the page, or book, that is missing here. */
    private long behindEmpty(long offset) {
        long bytes = book(offset) == null ? BOOK_BYTES : PAGE_BYTES;
        return offset - offset % bytes + bytes;
    }

    /** Where data begins at or after an offset; ENXIO: nowhere. */
    long seekData(long from) {
        long at = from;
        while (at < sizeBytes) {
            if (chunk(at) != null) {
                return at;
            }
            at = page(at) == null ? behindEmpty(at) : roundDown(at) + CHUNK_BYTES;
        }
        return -Errno.ENXIO;
    }

    /** Where a hole begins at or after an offset; the end of the file counts as one. */
    long seekHole(long from) {
        if (from >= sizeBytes) {
            return -Errno.ENXIO;
        }
        long at = from;
        while (at < sizeBytes && chunk(at) != null) {
            at = roundDown(at) + CHUNK_BYTES;
        }
        return Math.min(at, sizeBytes);
    }

    /** Gives all space back; the content is not used again. */
    void free() {
        space.give(heldBytes());
        books = EMPTY;
        chunks = 0;
        sizeBytes = 0;
    }

    private static int bookIndex(long offset) {
        return (int) (offset / BOOK_BYTES);
    }

    private static int pageIndex(long offset) {
        return (int) (offset % BOOK_BYTES / PAGE_BYTES);
    }

    private static int chunkIndex(long offset) {
        return (int) (offset % PAGE_BYTES / CHUNK_BYTES);
    }

    private static int inChunk(long offset) {
        return (int) (offset % CHUNK_BYTES);
    }

    private static long roundDown(long offset) {
        return offset - offset % CHUNK_BYTES;
    }

    private @Nullable Book book(long offset) {
        int index = bookIndex(offset);
        return index < books.length ? books[index] : null;
    }

    private @Nullable Page page(long offset) {
        Book book = book(offset);
        return book == null ? null : book.pages[pageIndex(offset)];
    }

    private @Nullable Chunk chunk(long offset) {
        Page page = page(offset);
        return page == null ? null : page.chunks[chunkIndex(offset)];
    }

    private @Nullable Chunk makeChunk(long offset) {
        Page page = makePage(offset);
        Chunk chunk = page.chunks[chunkIndex(offset)];
        if (chunk == null && space.take(CHUNK_BYTES)) {
            chunk = new Chunk();
            page.chunks[chunkIndex(offset)] = chunk;
            chunks++;
        }
        return chunk;
    }

    private Page makePage(long offset) {
        int index = bookIndex(offset);
        if (index >= books.length) {
            books = Arrays.copyOf(books, Math.max(index + 1, books.length * 2));
        }
        Book book = books[index];
        if (book == null) {
            book = new Book();
            books[index] = book;
        }
        Page page = book.pages[pageIndex(offset)];
        if (page == null) {
            page = new Page();
            book.pages[pageIndex(offset)] = page;
        }
        return page;
    }

    private void dropChunk(long offset) {
        Page page = page(offset);
        if (page != null && page.chunks[chunkIndex(offset)] != null) {
            page.chunks[chunkIndex(offset)] = null;
            chunks--;
            space.give(CHUNK_BYTES);
        }
    }
}
