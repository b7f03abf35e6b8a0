package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.store.FileStatus;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The bytes of a {@link DirtyFileRecord}: {version, state, node, file id, path, status}. Every version that there was reads them. */
final class RecordCodec {
    private static final int LONGEST = 1 << 24;

    private RecordCodec() {}

    static byte[] encode(DirtyFileRecord.Content content, int state) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(DirtyFileRecord.VERSION);
        out.writeInt(state);
        out.writeLong(content.node());
        out.writeLong(content.fileId());
        put(out, content.path());
        put(out, content.status());
        return bytes.toByteArray();
    }

    /** But for its id and length. */
    static void put(DataOutputStream out, FileStatus status) throws IOException {
        out.writeLong(status.blockBytes());
        out.writeInt(status.mode());
        put(out, status.owner());
        put(out, status.group());
        out.writeLong(status.modifiedMillis());
        out.writeLong(status.accessedMillis());
        out.writeInt(status.xattrs().size());
        for (Map.Entry<String, byte[]> xattr : status.xattrs().entrySet()) {
            put(out, xattr.getKey());
            out.writeInt(xattr.getValue().length);
            out.write(xattr.getValue());
        }
    }

    private static void put(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /** The end of it must follow. */
    static DirtyFileRecord.Content decode(DataInputStream in) throws IOException {
        return new DirtyFileRecord.Content(in.readLong(), in.readLong(), text(in), status(in));
    }

    /** A regular file that is complete; its id and length are known elsewhere. */
    static FileStatus status(DataInputStream in) throws IOException {
        long blockBytes = in.readLong();
        int mode = in.readInt();
        String owner = text(in);
        String group = text(in);
        long modifiedMillis = in.readLong();
        long accessedMillis = in.readLong();
        Map<String, byte[]> xattrs = new HashMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            xattrs.put(text(in), bytes(in));
        }
        return new FileStatus(
                0, "", false, true, 0, blockBytes, mode, owner, group, modifiedMillis, accessedMillis, xattrs);
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(bytes(in), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        int count = in.readInt();
        if (count < 0 || count > LONGEST) {
            throw new IOException("it is damaged");
        }
        byte[] bytes = new byte[Math.min(count, in.available() + 1)];
        in.readFully(bytes);
        return bytes;
    }
}
