package io.posixgateway.fuse.dispatch;

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
        bytes.writeBytes(text.getBytes(StandardCharsets.UTF_8));
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
