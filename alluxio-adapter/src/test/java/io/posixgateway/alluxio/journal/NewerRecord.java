package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** A record of a journal as a version after this one could write it. */
public final class NewerRecord {
    static final int VERSION = Journal.FORMAT + 1;

    private NewerRecord() {}

    /**
     * Appends one to a journal in a volume's folder.
     *
     * @param mustNotBeIgnored by a version that does not understand it
     */
    public static void append(Path folder, long node, long fileId, boolean mustNotBeIgnored) throws IOException {
        byte[] bytes = bytes(
                99, mustNotBeIgnored ? VERSION : Journal.FORMAT, 1000 + fileId, new JournalFrame.Subject(node, fileId));
        Files.write(folder.resolve("journal"), bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    static byte[] bytes(int kind, int least, long id, JournalFrame.Subject subject) throws IOException {
        JournalFrame frame =
                new JournalFrame(kind, VERSION, least, id, 0, subject, JournalFrame.payload(List.of("/newer" + id)));
        ByteBuffer bytes = ByteBuffer.allocate(frame.lengthBytes());
        frame.putInto(bytes);
        return bytes.array();
    }
}
