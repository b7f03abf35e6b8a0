package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * One record of a {@link Journal}, or of another file to which is only appended. Its head means the same in every version, so that one which
 * does not understand the rest keeps it, and knows what it is about.
 *
 * <pre>
 *   0 magic  4 length of the payload  8 CRC32C of all the rest  12 kind  14 version  15 least version that may ignore it
 *   16 id  24 id of the record that this one removes, or 0  32 node, or 0  40 file id, or 0  48 payload
 * </pre>
 *
 * @param payload never changed
 */
public record JournalFrame(
        int kind, int version, int least, long id, long removes, Subject subject, ByteBuffer payload) {
    public static final int HEAD_BYTES = 48;

    /** "PGWJ". Where a record is damaged, the next one is found by it. */
    private static final int MAGIC = 0x5047574A;

    private static final int LENGTH_AT = 4;
    private static final int CRC_AT = 8;
    private static final int KIND_AT = 12;
    private static final int MAX_PAYLOAD_BYTES = 1 << 20;

    /**
     * What a record is about.
     *
     * @param node that the kernel knows it by; 0: not known, or none
     * @param fileId Alluxio's; 0: the same
     */
    public record Subject(long node, long fileId) {
        public static final Subject NONE = new Subject(0, 0);
    }

    /**
     * What the bytes of a journal hold.
     *
     * @param damaged what lies between whole records, or behind them, and is no record that was cut short
     * @param endBytes where the next record goes: behind it lies nothing, or what was cut short
     */
    record Scan(List<JournalFrame> frames, List<ByteBuffer> damaged, int endBytes) {}

    /** @throws IOException they are too long */
    static ByteBuffer payload(List<String> texts) throws IOException {
        List<byte[]> all = texts.stream()
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toList();
        int count = all.stream().mapToInt(text -> Integer.BYTES + text.length).sum();
        if (count > MAX_PAYLOAD_BYTES) {
            throw new IOException(count + " bytes are too many for a record");
        }
        ByteBuffer bytes = ByteBuffer.allocate(count);
        all.forEach(text -> bytes.putInt(text.length).put(text));
        return bytes.flip();
    }

    /** The same back; empty where it is none of texts. */
    List<String> texts() {
        ByteBuffer left = payload.duplicate();
        List<String> texts = new ArrayList<>();
        while (left.remaining() >= Integer.BYTES) {
            int count = left.getInt();
            if (count < 0 || count > left.remaining()) {
                return List.of();
            }
            texts.add(StandardCharsets.UTF_8.decode(left.slice().limit(count)).toString());
            left.position(left.position() + count);
        }
        return left.hasRemaining() ? List.of() : texts;
    }

    public int lengthBytes() {
        return HEAD_BYTES + payload.remaining();
    }

    public void putInto(ByteBuffer target) {
        ByteBuffer bytes = target.slice().limit(lengthBytes());
        bytes.putInt(MAGIC).putInt(payload.remaining()).putInt(0);
        bytes.putShort((short) kind).put((byte) version).put((byte) least);
        bytes.putLong(id).putLong(removes).putLong(subject.node).putLong(subject.fileId);
        bytes.put(payload.duplicate());
        bytes.putInt(CRC_AT, crc(bytes, 0, lengthBytes()));
        target.position(target.position() + lengthBytes());
    }

    /** The same under this id, and removing nothing. */
    JournalFrame numbered(long number) {
        return new JournalFrame(kind, version, least, number, 0, subject, payload);
    }

    /** Of all but itself. */
    private static int crc(ByteBuffer bytes, int at, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.slice(at + LENGTH_AT, CRC_AT - LENGTH_AT));
        crc.update(bytes.slice(at + KIND_AT, length - KIND_AT));
        return (int) crc.getValue();
    }

    /** Whatever the bytes are. What was cut short at the end is not there: nobody was told that it was recorded. */
    static Scan scan(ByteBuffer bytes) {
        List<JournalFrame> frames = new ArrayList<>();
        List<ByteBuffer> damaged = new ArrayList<>();
        int end = 0;
        for (int at = 0; at < bytes.limit(); ) {
            if (!isWhole(bytes, at)) {
                at++;
                continue;
            }
            if (at > end) {
                damaged.add(copy(bytes, end, at - end));
            }
            JournalFrame frame = decode(bytes, at);
            frames.add(frame);
            at += frame.lengthBytes();
            end = at;
        }
        if (end < bytes.limit() && !isCutShort(bytes, end)) {
            damaged.add(copy(bytes, end, bytes.limit() - end));
            end = bytes.limit();
        }
        return new Scan(frames, damaged, end);
    }

    /**
     * Calls for each whole record, in order, and passes over all else.
     *
     * @return where the last one ends
     */
    public static int visit(ByteBuffer bytes, Consumer<JournalFrame> visitor) {
        int end = 0;
        for (int at = 0; at < bytes.limit(); ) {
            if (isWhole(bytes, at)) {
                JournalFrame frame = decode(bytes, at);
                visitor.accept(frame);
                at += frame.lengthBytes();
                end = at;
            } else {
                at++;
            }
        }
        return end;
    }

    private static boolean isWhole(ByteBuffer bytes, int at) {
        if (!isBegun(bytes, at)) {
            return false;
        }
        int length = HEAD_BYTES + bytes.getInt(at + LENGTH_AT);
        return at + length <= bytes.limit() && bytes.getInt(at + CRC_AT) == crc(bytes, at, length);
    }

    private static boolean isBegun(ByteBuffer bytes, int at) {
        if (bytes.limit() - at < HEAD_BYTES || bytes.getInt(at) != MAGIC) {
            return false;
        }
        int length = bytes.getInt(at + LENGTH_AT);
        return length >= 0 && length <= MAX_PAYLOAD_BYTES;
    }

    /** By the end of its process, or of the node, whose disk may show zeros in the place of what it had not stored. */
    private static boolean isCutShort(ByteBuffer bytes, int at) {
        int left = bytes.limit() - at;
        boolean isShort = isBegun(bytes, at) && HEAD_BYTES + bytes.getInt(at + LENGTH_AT) > left;
        return left < HEAD_BYTES || isShort || isZero(bytes, at);
    }

    private static boolean isZero(ByteBuffer bytes, int from) {
        int at = from;
        while (at < bytes.limit() && bytes.get(at) == 0) {
            at++;
        }
        return at == bytes.limit();
    }

    private static JournalFrame decode(ByteBuffer bytes, int at) {
        ByteBuffer head = bytes.slice(at, HEAD_BYTES);
        int kind = Short.toUnsignedInt(head.getShort(KIND_AT));
        int version = Byte.toUnsignedInt(head.get(KIND_AT + 2));
        int least = Byte.toUnsignedInt(head.get(KIND_AT + 3));
        head.position(16);
        long id = head.getLong();
        long removes = head.getLong();
        Subject subject = new Subject(head.getLong(), head.getLong());
        return new JournalFrame(
                kind, version, least, id, removes, subject, copy(bytes, at + HEAD_BYTES, bytes.getInt(at + LENGTH_AT)));
    }

    private static ByteBuffer copy(ByteBuffer bytes, int at, int length) {
        byte[] copied = new byte[length];
        bytes.get(at, copied);
        return ByteBuffer.wrap(copied);
    }
}
