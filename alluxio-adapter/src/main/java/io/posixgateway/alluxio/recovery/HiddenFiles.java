package io.posixgateway.alluxio.recovery;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The hidden files that this process has in Alluxio: open files that were deleted, and content on its way to a name.
 *
 * <p>Each is written into a {@link ProcessList} before it is made, and taken off when it is gone. The next process that uses the folder
 * removes what stands in the list. So a hidden file of another node, or of a living process, is never touched. Any thread.
 */
public final class HiddenFiles extends ProcessList<HiddenFiles.Hidden> {
    /**
     * One hidden file.
     *
     * @param path where it is, unless directories above it were renamed since
     * @param fileId Alluxio's; 0: it is not known yet
     * @param node that may still be open; 0: none is
     */
    public record Hidden(String path, long fileId, long node) {}

    /** Makes nothing yet. The parameters are those of {@link ProcessList}. */
    public HiddenFiles(Path folder, String cluster, boolean own) {
        super(folder, "hidden", cluster, own);
    }

    @Override
    String key(Hidden hidden) {
        return hidden.path();
    }

    @Override
    void write(Hidden hidden, DataOutputStream out) throws IOException {
        out.writeLong(hidden.fileId());
        out.writeLong(hidden.node());
        out.writeUTF(hidden.path());
    }

    @Override
    Hidden read(DataInputStream in) throws IOException {
        long fileId = in.readLong();
        long node = in.readLong();
        return new Hidden(in.readUTF(), fileId, node);
    }

    /** The deleted file of this node is gone, wherever it was. */
    public void forget(long node) {
        present().stream().filter(hidden -> hidden.node() == node).forEach(this::remove);
    }
}
