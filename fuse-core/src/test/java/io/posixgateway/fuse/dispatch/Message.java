package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.spi.Name;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Builds the bytes of arguments and names. */
public final class Message {
    public static final byte[] NOTHING = {};

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    public Message int32(int value) {
        bytes.writeBytes(ByteBuffer.allocate(4)
                .order(ByteOrder.nativeOrder())
                .putInt(value)
                .array());
        return this;
    }

    public Message int64(long value) {
        bytes.writeBytes(ByteBuffer.allocate(8)
                .order(ByteOrder.nativeOrder())
                .putLong(value)
                .array());
        return this;
    }

    public Message text(String text) {
        bytes.writeBytes(bytes(text));
        bytes.write(0);
        return this;
    }

    public Message raw(byte[] data) {
        bytes.writeBytes(data);
        return this;
    }

    public byte[] done() {
        return bytes.toByteArray();
    }

    /** Text in UTF-8, but for U+DC80 to U+DCFF: each is the one byte 80 to FF, which is no UTF-8 by itself (as Python has it). */
    public static byte[] bytes(String text) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        text.codePoints().forEach(c -> {
            boolean one = c >= 0xDC80 && c <= 0xDCFF;
            all.writeBytes(one ? new byte[] {(byte) c} : Character.toString(c).getBytes(StandardCharsets.UTF_8));
        });
        return all.toByteArray();
    }

    /** The other way round. */
    public static String text(byte[] bytes) {
        Name name = Name.of(bytes);
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < bytes.length; ) {
            int count = name.characterBytes(at);
            if (count == 0) {
                text.append((char) (0xDC00 | (bytes[at] & 0xFF)));
            } else {
                text.append(new String(bytes, at, count, StandardCharsets.UTF_8));
            }
            at += Math.max(1, count);
        }
        return text.toString();
    }

    public static byte[] names(String... names) {
        Message message = new Message();
        for (String name : names) {
            message.text(name);
        }
        return message.done();
    }

    /** Arguments of read, readdir and write. */
    public static byte[] transfer(long handle, long offset, int size) {
        return new Message()
                .int64(handle)
                .int64(offset)
                .int32(size)
                .int32(0)
                .int64(0)
                .int32(0)
                .int32(0)
                .done();
    }
}
