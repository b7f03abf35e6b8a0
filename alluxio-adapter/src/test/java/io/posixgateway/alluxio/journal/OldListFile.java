package io.posixgateway.alluxio.journal;

import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A list of work as versions before the journal wrote it. */
public final class OldListFile {
    private final Path file;

    /** @param name of the file, which begins with the kind of the list */
    public OldListFile(Path folder, String name) throws IOException {
        this.file = Files.createFile(folder.resolve(name));
    }

    public Path path() {
        return file;
    }

    /** A hidden file. */
    public OldListFile hidden(boolean there, long fileId, long node, String path) throws IOException {
        return append(there, out -> {
            out.writeLong(fileId);
            out.writeLong(node);
            out.writeUTF(path);
        });
    }

    /** The rename of a file, of kind {@code renames} or {@code moves}. */
    public OldListFile rename(boolean there, long fileId, String from, String to) throws IOException {
        return append(there, out -> {
            out.writeLong(fileId);
            out.writeUTF(from);
            out.writeUTF(to);
        });
    }

    /** The rename of a directory. */
    public OldListFile directory(boolean there, String from, String to) throws IOException {
        return append(there, out -> {
            out.writeUTF(from);
            out.writeUTF(to);
        });
    }

    private interface Fields {
        void write(DataOutputStream out) throws IOException;
    }

    private OldListFile append(boolean there, Fields fields) throws IOException {
        try (DataOutputStream out =
                new DataOutputStream(Files.newOutputStream(file, java.nio.file.StandardOpenOption.APPEND))) {
            out.writeBoolean(there);
            fields.write(out);
        }
        return this;
    }
}
