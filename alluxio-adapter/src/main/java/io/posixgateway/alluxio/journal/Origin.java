package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.store.FileStatus;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What a changed file was when its change began, in a small file beside its record: {version, bytes, fields, checksum of the
 * fields}. Earlier versions of the gateway know nothing of it and leave it alone. Any thread.
 *
 * @param node that the kernel knows it by
 * @param fileId Alluxio's
 * @param path where it was in Alluxio
 * @param lengthBytes of its content then; {@link #NEW}: it was being made, there was none
 * @param modifiedMillis Alluxio's time of its last change; 0: not known
 * @param createdSeconds when Alluxio made it: an id alone may name another file after a restore; 0: not known
 * @param base the attributes that Alluxio had before they were changed here; null: they were not, or it is not known. Earlier versions do
 *     not read it
 */
public record Origin(
        long node,
        long fileId,
        String path,
        long lengthBytes,
        long modifiedMillis,
        int createdSeconds,
        @Nullable FileStatus base) {
    /** As length: the file was being made. */
    public static final long NEW = -1;

    /** How its name ends. */
    public static final String SUFFIX = ".origin";

    private static final int VERSION = 1;
    private static final int HEAD_BYTES = 2 * Integer.BYTES;

    public Origin(long node, long fileId, String path, long lengthBytes, long modifiedMillis, int createdSeconds) {
        this(node, fileId, path, lengthBytes, modifiedMillis, createdSeconds, null);
    }

    Origin with(FileStatus attributes) {
        return new Origin(node, fileId, path, lengthBytes, modifiedMillis, createdSeconds, attributes);
    }

    /** Beside this record. */
    public static Path beside(Path record) {
        String name = record.getFileName().toString();
        int dot = name.lastIndexOf('.');
        return record.resolveSibling((dot < 0 ? name : name.substring(0, dot)) + SUFFIX);
    }

    void write(Path file) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(body);
        out.writeLong(node);
        out.writeLong(fileId);
        out.writeUTF(path.length() > MAX_CHARS ? "" : path);
        out.writeLong(lengthBytes);
        out.writeLong(modifiedMillis);
        out.writeInt(createdSeconds);
        if (base != null) {
            RecordCodec.put(out, base);
        }
        byte[] fields = body.toByteArray();
        ByteBuffer whole = ByteBuffer.allocate(HEAD_BYTES + fields.length + Integer.BYTES);
        whole.putInt(VERSION).putInt(fields.length).put(fields).putInt(checksum(fields));
        Files.write(file, whole.array());
    }

    /** So many characters take no more bytes than a text may have. */
    private static final int MAX_CHARS = 16_000;

    /** Null: there is none, or this version does not understand it. */
    static @Nullable Origin read(Path file) {
        try {
            ByteBuffer whole = ByteBuffer.wrap(Files.readAllBytes(file));
            if (whole.remaining() < HEAD_BYTES || whole.getInt() != VERSION) {
                return null;
            }
            int count = whole.getInt();
            if (count < 0 || count != whole.remaining() - Integer.BYTES) {
                return null;
            }
            byte[] fields = new byte[count];
            whole.get(fields);
            return whole.getInt() == checksum(fields) ? decode(fields) : null;
        } catch (IOException missing) {
            return null;
        }
    }

    private static Origin decode(byte[] fields) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(fields));
        Origin origin =
                new Origin(in.readLong(), in.readLong(), in.readUTF(), in.readLong(), in.readLong(), in.readInt());
        return in.available() > 0 ? origin.with(RecordCodec.status(in)) : origin;
    }

    private static int checksum(byte[] fields) {
        CRC32C crc = new CRC32C();
        crc.update(fields);
        return (int) crc.getValue();
    }
}
