package io.posixgateway.alluxio.inode;

import io.posixgateway.alluxio.client.NameCodec;
import io.posixgateway.fuse.spi.Name;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One way through a directory that is listed in pages, in the order of names: so that it ends though this mount renames what was
 * shown to names behind all others, a file that was shown is not shown once more. Of a file that is renamed before it is shown, the
 * new name is. Any thread.
 *
 * <p>A name is passed once it is on the page at hand or on one before it: what the page has is shown with the name that it has there.
 */
public final class ListingPass {
    /** Of more files this is not known; they may be shown again. */
    private static final int MOST = 100_000;

    private final NameCodec codec;
    /** Files, by node, that were shown, and have a name now that is not passed. */
    private final Set<Long> shown = new HashSet<>();
    /** Those that were not shown, and have one that is. */
    private final Set<Long> notShown = new HashSet<>();

    private String reached = "";

    public ListingPass(NameCodec codec) {
        this.codec = codec;
    }

    /** @param last name of the page at hand, as Alluxio has it */
    public synchronized void reached(String last) {
        reached = last;
    }

    /** Was it shown, by the name that it had? */
    public synchronized boolean hasShown(Inode file) {
        return shown.contains(file.node());
    }

    /** @param from null: it had no name here */
    synchronized void named(Inode file, @Nullable Name from, Name to) {
        long node = file.node();
        boolean wasShown = shown.contains(node) || (from != null && isPassed(from) && !notShown.contains(node));
        boolean passed = isPassed(to);
        keep(shown, node, wasShown && !passed);
        keep(notShown, node, !wasShown && passed);
    }

    /** A name that was here is the file's now, and stays in the listing. */
    synchronized void replaced(Inode file) {
        shown.remove(file.node());
        notShown.remove(file.node());
    }

    private static void keep(Set<Long> nodes, long node, boolean belongs) {
        if (!belongs) {
            nodes.remove(node);
        } else if (nodes.size() < MOST) {
            nodes.add(node);
        }
    }

    private boolean isPassed(Name name) {
        return codec.stored(name).compareTo(reached) <= 0;
    }
}
