package io.posixgateway.alluxio.recovery;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Renames of directories, file by file, that began and did not end: this process's, and those that earlier ones left. Each is written
 * into a {@link ProcessList} before anything is made, and taken off when the old name is gone. Any thread.
 */
public final class DirectoryRenameLog implements AutoCloseable {
    private final ProcessList<Moving> list;

    /**
     * One rename of a directory.
     *
     * @param from its path before
     * @param to its new path
     */
    public record Moving(String from, String to) {}

    private static final class Codec implements ProcessList.Codec<Moving> {
        @Override
        public String key(Moving moving) {
            return moving.from();
        }

        @Override
        public void write(Moving moving, DataOutputStream out) throws IOException {
            out.writeUTF(moving.from());
            out.writeUTF(moving.to());
        }

        @Override
        public Moving read(DataInputStream in) throws IOException {
            String from = in.readUTF();
            return new Moving(from, in.readUTF());
        }
    }

    /**
     * Makes nothing yet.
     *
     * @param cluster names the Alluxio
     * @param own is the folder one volume's own, so that all lists in it are of the same Alluxio?
     */
    public DirectoryRenameLog(Path folder, String cluster, boolean own) {
        this.list = new ProcessList<>(folder, "directories", cluster, own, new Codec());
    }

    /** Before anything is made. A line in the log if it cannot be written: then the next process does not report it. */
    public void add(Moving moving) {
        list.add(moving);
    }

    /** It ended, or nothing of it was done. */
    public void remove(Moving moving) {
        list.remove(moving.from());
    }

    /** Those that stand in the list now, in flight or ended half-way. */
    public List<Moving> present() {
        return list.present();
    }

    /** Takes over the lists of processes that are no more; returns what stands in them. */
    public List<Moving> inherit() {
        return list.inherit();
    }

    /** Releases the list, which is removed if nothing stands in it. */
    @Override
    public void close() {
        list.close();
    }
}
