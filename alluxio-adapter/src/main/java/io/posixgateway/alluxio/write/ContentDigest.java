package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.store.StoreException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 of content, to recognise it when it is seen again. Any thread. */
final class ContentDigest {
    private static final int PIECE_BYTES = 1 << 20;

    private ContentDigest() {}

    /** Fills the buffer from this offset on; returns the bytes put, fewer only at the end. */
    @FunctionalInterface
    interface Reader {
        int read(long offset, ByteBuffer into) throws StoreException;
    }

    /** In hexadecimal digits; of what there is, where that is less. Waits as the reader does. */
    static String of(Reader reader, long lengthBytes) throws StoreException {
        MessageDigest digest = sha256();
        ByteBuffer piece = ByteBuffer.allocate((int) Math.min(PIECE_BYTES, Math.max(1, lengthBytes)));
        for (long at = 0; at < lengthBytes; ) {
            piece.clear().limit((int) Math.min(piece.capacity(), lengthBytes - at));
            int count = reader.read(at, piece);
            if (count <= 0) {
                break;
            }
            digest.update(piece.array(), 0, count);
            at += count;
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("each JVM has it", e);
        }
    }
}
