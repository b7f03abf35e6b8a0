package io.posixgateway.alluxio.recovery;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Renames over files that this process has in flight where a rename is a copy: while Alluxio makes one, and after its master was
 * killed in it, nothing has the name. Each is written into a {@link ProcessList} before it is asked for, and taken off when its outcome
 * is known; the next process that uses the folder finishes what stands in the list. Any thread.
 */
public final class RenameLog implements AutoCloseable {
    private final Path folder;
    private final ProcessList<Renaming> list;

    /**
     * One rename over a file.
     *
     * @param from the path of the file before
     * @param fileId Alluxio's, of the file that is renamed
     * @param to the path of the file that is replaced
     */
    public record Renaming(String from, long fileId, String to) {}

    private static final class Codec implements ProcessList.Codec<Renaming> {
        @Override
        public String key(Renaming renaming) {
            return renaming.from();
        }

        @Override
        public void write(Renaming renaming, DataOutputStream out) throws IOException {
            out.writeLong(renaming.fileId());
            out.writeUTF(renaming.from());
            out.writeUTF(renaming.to());
        }

        @Override
        public Renaming read(DataInputStream in) throws IOException {
            long fileId = in.readLong();
            String from = in.readUTF();
            return new Renaming(from, fileId, in.readUTF());
        }
    }

    /**
     * Makes nothing yet.
     *
     * @param cluster names the Alluxio
     * @param own is the folder one volume's own, so that all lists in it are of the same Alluxio?
     */
    public RenameLog(Path folder, String cluster, boolean own) {
        this.folder = folder;
        this.list = new ProcessList<>(folder, "renames", cluster, own, new Codec());
    }

    /** Where it is kept. */
    public Path folder() {
        return folder;
    }

    /** Before it is asked for. False, and a line in the log, if it cannot be written: then nobody finishes it after this process. */
    public boolean add(Renaming renaming) {
        return list.add(renaming);
    }

    /** Its outcome is known. */
    public void remove(Renaming renaming) {
        list.remove(renaming.from());
    }

    /** Takes over the lists of processes that are no more; returns what stands in them. */
    public List<Renaming> inherit() {
        return list.inherit();
    }

    /** Releases the list, which is removed if nothing stands in it. */
    @Override
    public void close() {
        list.close();
    }
}
