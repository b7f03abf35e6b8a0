package io.posixgateway.alluxio.recovery;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The hidden files that this process has in Alluxio: open files that were deleted, and content on its way to a name.
 *
 * <p>Each is written into a {@link ProcessList} before it is made, and taken off when it is gone. The next process that uses the folder
 * removes what stands in the list. So a hidden file of another node, or of a living process, is never touched. Any thread.
 */
public final class HiddenFiles implements AutoCloseable {
    private final ProcessList<Hidden> list;

    /**
     * One hidden file.
     *
     * @param path where it is, unless directories above it were renamed since
     * @param fileId Alluxio's; 0: it is not known yet
     * @param node that may still be open; 0: none is
     */
    public record Hidden(String path, long fileId, long node) {}

    /** As every version stores it. */
    private static final class Codec implements ProcessList.Codec<Hidden> {
        @Override
        public String key(Hidden hidden) {
            return hidden.path();
        }

        @Override
        public void write(Hidden hidden, DataOutputStream out) throws IOException {
            out.writeLong(hidden.fileId());
            out.writeLong(hidden.node());
            out.writeUTF(hidden.path());
        }

        @Override
        public Hidden read(DataInputStream in) throws IOException {
            long fileId = in.readLong();
            long node = in.readLong();
            return new Hidden(in.readUTF(), fileId, node);
        }
    }

    /**
     * Makes nothing yet.
     *
     * @param cluster names the Alluxio
     * @param own is the folder one volume's own, so that all lists in it are of the Alluxio that {@link KnownAlluxio} knows, wherever it
     *     is reached now? If not, mounts of other Alluxios may use it, too, and the name of each list says of which it is
     */
    public HiddenFiles(Path folder, String cluster, boolean own) {
        this.list = new ProcessList<>(folder, "hidden", cluster, own, new Codec());
    }

    /** Before it is made. False, and a line in the log, if the list cannot be written: then it may outlive this process. */
    public boolean add(Hidden hidden) {
        return list.add(hidden);
    }

    /** It is gone, or was not made. */
    public void remove(String path) {
        list.remove(path);
    }

    /** Does one of this path stand in the list now? */
    public boolean has(String path) {
        return list.has(path);
    }

    /** The deleted file of this node is gone, wherever it was. */
    public void forget(long node) {
        present().stream().filter(hidden -> hidden.node() == node).forEach(hidden -> remove(hidden.path()));
    }

    /** Those that stand in the list now. */
    public List<Hidden> present() {
        return list.present();
    }

    /** Takes over the lists of processes that are no more; returns what stands in them. */
    public List<Hidden> inherit() {
        return list.inherit();
    }

    /** Lets go of the list, which is removed if nothing stands in it. */
    @Override
    public void close() {
        list.close();
    }
}
