package io.posixgateway.alluxio.recovery;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Renames of files that this process has in flight where a rename is a copy, in two lists: those over files, as nothing has the name
 * while Alluxio makes one, and after its master was killed in it; and those to free names. Each is written into a {@link ProcessList}
 * before it is asked for, and taken off when its outcome is known; the next process that uses the folder finishes what stands in the
 * first list, and has Alluxio know of what was done of the second. Any thread.
 */
public final class RenameLog implements AutoCloseable {
    private final Path folder;
    private final ProcessList<Renaming> list;
    private final ProcessList<Renaming> free;

    /**
     * One rename of a file.
     *
     * @param from the path of the file before
     * @param fileId Alluxio's, of the file that is renamed
     * @param to the path of the file that is replaced, or the free one
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
        this.free = new ProcessList<>(folder, "moves", cluster, own, new Codec());
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

    /** As {@link #add}, of one to a free name. */
    public boolean addFree(Renaming renaming) {
        return free.add(renaming);
    }

    /** As {@link #remove}, of one to a free name. */
    public void removeFree(Renaming renaming) {
        free.remove(renaming.from());
    }

    /** As {@link #inherit}, of those to free names. */
    public List<Renaming> inheritFree() {
        return free.inherit();
    }

    /** Releases the lists, which are removed if nothing stands in them. */
    @Override
    public void close() {
        list.close();
        free.close();
    }
}
