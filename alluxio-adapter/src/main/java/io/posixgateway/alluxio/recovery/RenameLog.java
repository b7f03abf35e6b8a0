package io.posixgateway.alluxio.recovery;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Renames of files that this process has in flight where a rename is a copy. Each is written into a {@link ProcessList} before it is
 * asked for, and taken off when its outcome is known. Any thread.
 */
public final class RenameLog implements AutoCloseable {
    /** Those over files: nothing has the name while Alluxio makes one, and after its master was killed in it. The next process finishes them. */
    public final ProcessList<Renaming> over;
    /** Those to free names. The next process has Alluxio know what was done of them. */
    public final ProcessList<Renaming> free;

    /**
     * One rename of a file.
     *
     * @param from the path of the file before
     * @param fileId Alluxio's, of the file that is renamed
     * @param to the path of the file that is replaced, or the free one
     */
    public record Renaming(String from, long fileId, String to) {}

    /** Makes nothing yet. The parameters are those of {@link ProcessList}. */
    public RenameLog(Path folder, String cluster, boolean own) {
        this.over = new Renames(folder, "renames", cluster, own);
        this.free = new Renames(folder, "moves", cluster, own);
    }

    /** Releases the lists, which are removed if nothing stands in them. */
    @Override
    public void close() {
        over.close();
        free.close();
    }

    private static final class Renames extends ProcessList<Renaming> {
        Renames(Path folder, String kind, String cluster, boolean own) {
            super(folder, kind, cluster, own);
        }

        @Override
        String key(Renaming renaming) {
            return renaming.from();
        }

        @Override
        void write(Renaming renaming, DataOutputStream out) throws IOException {
            out.writeLong(renaming.fileId());
            out.writeUTF(renaming.from());
            out.writeUTF(renaming.to());
        }

        @Override
        Renaming read(DataInputStream in) throws IOException {
            long fileId = in.readLong();
            String from = in.readUTF();
            return new Renaming(from, fileId, in.readUTF());
        }
    }
}
