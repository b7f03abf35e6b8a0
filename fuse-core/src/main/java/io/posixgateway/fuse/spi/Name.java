package io.posixgateway.fuse.spi;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * A file name: bytes, end to end, as the kernel sent them; never empty in a request, never with a slash or NUL.
 *
 * <p>The names of a request are lent: they change when the request ends. {@link #copy()} gives one to keep. Equality and
 * hash are those of the bytes, so that a lent name finds a kept one in a map without an allocation.
 */
public final class Name {
    /** The longest name that the kernel lets through, in bytes. */
    public static final int MAX_BYTES = 255;

    private byte[] bytes;
    private int length;
    private int hash;

    /** An empty name to be {@linkplain #set set} again and again. */
    public Name() {
        bytes = new byte[MAX_BYTES + 1];
        hash = hashOf(bytes, 0);
    }

    private Name(byte[] bytes) {
        this.bytes = bytes;
        this.length = bytes.length;
        this.hash = hashOf(bytes, length);
    }

    /** A name to keep, of these bytes (copied). */
    public static Name of(byte[] bytes) {
        return new Name(bytes.clone());
    }

    /** A name to keep, of this text in UTF-8. */
    public static Name of(String text) {
        return new Name(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Takes {@code count} bytes at the absolute position {@code from} of a buffer; grows when a name is longer than 255. */
    public void set(ByteBuffer buffer, int from, int count) {
        if (count > bytes.length) {
            bytes = new byte[count];
        }
        buffer.get(from, bytes, 0, count);
        length = count;
        hash = hashOf(bytes, count);
    }

    /** Takes all of these bytes (copied). */
    public void set(byte[] from) {
        if (from.length > bytes.length) {
            bytes = new byte[from.length];
        }
        System.arraycopy(from, 0, bytes, 0, from.length);
        length = from.length;
        hash = hashOf(bytes, length);
    }

    public int length() {
        return length;
    }

    public byte at(int index) {
        return bytes[index];
    }

    /** A copy of the bytes. */
    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    /** A name of its own that never changes. */
    public Name copy() {
        return new Name(toBytes());
    }

    /** Puts the bytes at the buffer's position. */
    public void putInto(ByteBuffer buffer) {
        buffer.put(bytes, 0, length);
    }

    /** The length of the character of UTF-8 that begins at this index, in bytes; 0: none does. */
    public int characterBytes(int index) {
        int first = bytes[index] & 0xFF;
        if (first < 0x80) {
            return 1;
        }
        int count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
        boolean begins = first >= 0xC2 && first <= 0xF4 && index + count <= length;
        int character = begins ? first & (0x7F >> count) : -1;
        for (int i = 1; i < count && character >= 0; i++) {
            int next = bytes[index + i];
            character = (next & 0xC0) == 0x80 ? (character << 6) | (next & 0x3F) : -1;
        }
        return isWritten(character, count) ? count : 0;
    }

    /** Is this a character, and are so many bytes the fewest for it? */
    private static boolean isWritten(int character, int count) {
        int least = count == 2 ? 0x80 : count == 3 ? 0x800 : 0x10000;
        boolean surrogate = character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE;
        return character >= least && !surrogate && character <= Character.MAX_CODE_POINT;
    }

    /** The name on one line, for logs: a backslash, control characters, and bytes that are no UTF-8 are written as {@code \\xXX}. */
    public String printable() {
        StringBuilder text = new StringBuilder(length);
        for (int at = 0; at < length; ) {
            int count = characterBytes(at);
            String character = new String(bytes, at, Math.max(1, count), StandardCharsets.UTF_8);
            int code = character.codePointAt(0);
            boolean plain = count > 0 && code != '\\' && !isControl(code);
            if (plain) {
                text.append(character);
                at += count;
            } else {
                text.append(String.format(Locale.ROOT, "\\x%02X", bytes[at++]));
            }
        }
        return text.toString();
    }

    /** Breaks of lines and changes of direction, too. */
    private static boolean isControl(int code) {
        return switch (Character.getType(code)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }

    /** The name as text; bytes that are no UTF-8 become U+FFFD. For messages. */
    @Override
    public String toString() {
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Name name && Arrays.equals(bytes, 0, length, name.bytes, 0, name.length);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** Does it begin with these bytes? */
    public boolean startsWith(Name other) {
        return length >= other.length && Arrays.equals(bytes, 0, other.length, other.bytes, 0, other.length);
    }

    /** Is it made of these bytes? */
    public boolean isOf(byte[] other) {
        return Arrays.equals(bytes, 0, length, other, 0, other.length);
    }

    /** What {@link #hashCode} of a name of these bytes is. */
    public static int hashOf(byte[] bytes) {
        return hashOf(bytes, bytes.length);
    }

    private static int hashOf(byte[] bytes, int length) {
        int result = 1;
        for (int i = 0; i < length; i++) {
            result = 31 * result + bytes[i];
        }
        return result;
    }
}
