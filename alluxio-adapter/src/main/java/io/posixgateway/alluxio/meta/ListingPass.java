package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Name;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One way through a directory that is listed in pages, in the order of names: so that it ends though this mount renames what was
 * shown to names behind all others, a file that was shown is not shown once more. Of a file that is renamed before it is shown, the
 * new name is. Any thread.
 *
 * <p>A name is passed once it is on the page at hand or on one before it: what the page has is shown with the name that it has there.
 */
public final class ListingPass {
    private final NameCodec codec;
    private final Room room;
    /** Files, by node, that were shown, and have a name now that is not passed. */
    private final Set<Long> shown = new HashSet<>();
    /** Those that were not shown, and have one that is. */
    private final Set<Long> notShown = new HashSet<>();

    private String reached = "";
    /** Nothing is known any more, so files may be shown again; none is left out. */
    private boolean over;

    /** For what the listings of one volume note, together. Any thread. */
    public static final class Room {
        private final AtomicInteger left;

        /** @param most files */
        public Room(int most) {
            this.left = new AtomicInteger(most);
        }

        private boolean take() {
            boolean taken = left.decrementAndGet() >= 0;
            if (!taken) {
                left.incrementAndGet();
            }
            return taken;
        }
    }

    /** @param room for what it notes; where it has none left, the listing is as if nothing had been noted */
    public ListingPass(NameCodec codec, Room room) {
        this.codec = codec;
        this.room = room;
    }

    /** The room that it has is given back. */
    synchronized void end() {
        over = true;
        room.left.addAndGet(shown.size() + notShown.size());
        shown.clear();
        notShown.clear();
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
        if (over) {
            return;
        }
        long node = file.node();
        boolean wasShown = shown.contains(node) || (from != null && isPassed(from) && !notShown.contains(node));
        boolean passed = isPassed(to);
        keep(shown, node, wasShown && !passed);
        keep(notShown, node, !wasShown && passed);
    }

    /** A name that was here is the file's now, and stays in the listing. */
    synchronized void replaced(Inode file) {
        keep(shown, file.node(), false);
        keep(notShown, file.node(), false);
    }

    private void keep(Set<Long> nodes, long node, boolean belongs) {
        if (!belongs) {
            room.left.addAndGet(nodes.remove(node) ? 1 : 0);
        } else if (!over && !nodes.contains(node)) {
            if (room.take()) {
                nodes.add(node);
            } else {
                end();
            }
        }
    }

    private boolean isPassed(Name name) {
        return codec.stored(name).compareTo(reached) <= 0;
    }
}
