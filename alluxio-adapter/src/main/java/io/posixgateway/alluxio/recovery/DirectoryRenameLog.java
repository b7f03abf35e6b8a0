package io.posixgateway.alluxio.recovery;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Renames of directories, file by file, that began and did not end: this process's, and those that earlier ones left. Each is written
 * into a {@link ProcessList} before anything is made, and taken off when the old name is gone. Any thread.
 */
public final class DirectoryRenameLog extends ProcessList<DirectoryRenameLog.Moving> {
    /**
     * One rename of a directory.
     *
     * @param from its path before
     * @param to its new path
     */
    public record Moving(String from, String to) {}

    /** Makes nothing yet. The parameters are those of {@link ProcessList}. */
    public DirectoryRenameLog(Path folder, String cluster, boolean own) {
        super(folder, "directories", cluster, own);
    }

    @Override
    String key(Moving moving) {
        return moving.from();
    }

    @Override
    void write(Moving moving, DataOutputStream out) throws IOException {
        out.writeUTF(moving.from());
        out.writeUTF(moving.to());
    }

    @Override
    Moving read(DataInputStream in) throws IOException {
        String from = in.readUTF();
        return new Moving(from, in.readUTF());
    }
}
