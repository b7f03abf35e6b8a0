package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads directories in parts, and merges each part name by name with what is known: a name that this mount changed since is as it made
 * it, and no change of another name is in the way of the rest. Any thread; waits.
 */
public final class Listings {
    private static final int PAGE = 1000;

    private final Metadata metadata;
    private final Store store;
    private final InodeTable table;
    private final KernelInvalidator invalidator;

    Listings(Metadata metadata, Store store, InodeTable table, KernelInvalidator invalidator) {
        this.metadata = metadata;
        this.store = store;
        this.table = table;
        this.invalidator = invalidator;
    }

    /**
     * Reads the part of a listing behind a name; names of the gateway's own are left out.
     *
     * @param startAfter the last name already read; empty: from the beginning
     */
    public Listed list(Inode directory, String startAfter) throws StoreException {
        Request request = request();
        Store.Page answer = page(directory, startAfter);
        List<FileStatus> entries = answer.entries();
        NameCodec names = metadata.locations().names(directory);
        byte[][] shown = new byte[entries.size()][];
        Inode[] inodes = new Inode[entries.size()];
        int count = 0;
        for (FileStatus status : entries) {
            if (isShown(status.name(), names)) {
                Name name = names.shown(status.name());
                Inode child = listed(directory, name, status, request);
                if (child != null) {
                    shown[count] = name.toBytes();
                    inodes[count++] = child;
                }
            }
        }
        String last =
                entries.isEmpty() ? startAfter : entries.get(entries.size() - 1).name();
        ListingPage page = ListingPage.listed(shown, inodes, count, names);
        for (Name name : directory.dentries().replacedSince(request.nanos)) {
            String text = names.stored(name);
            Inode holder = directory.dentries().holder(name);
            if (holder != null && text.compareTo(startAfter) > 0 && (!answer.more() || text.compareTo(last) <= 0)) {
                page = page.with(name, holder, names);
            }
        }
        return new Listed(page, last, answer.more());
    }

    /** Returns false for the gateway's own names, and for what nobody could ask Alluxio for. */
    private static boolean isShown(String stored, NameCodec names) {
        return !TempNames.is(stored) && names.isReachable(stored);
    }

    /** What has a name that Alluxio lists; null: it is none. */
    private @Nullable Inode listed(Inode directory, Name name, FileStatus status, Request request)
            throws StoreException {
        FileStatus found = status;
        Dentries.Dentry known = directory.dentries().find(name);
        if (known != null && known.child() == null) {
            invalidator.moved(directory, List.of(name.copy())); // the kernel may believe that it is missing
        }
        if (directory.dentries().wasTaken(name)) {
            boolean before = known == null || known.generation() <= request.issued;
            found = before ? metadata.compared(metadata.pathOf(directory, name)) : status;
        }
        if (found == null) {
            return null;
        }
        Inode child = metadata.place(directory, name, found, request.issued);
        Dentries.Dentry newer = child != null ? child : directory.dentries().find(name);
        return newer != null ? newer.child() : unplaced(found);
    }

    /** What is listed at a name of which nothing is known but that a change may have been forgotten: it is shown, and not kept. */
    private @Nullable Inode unplaced(FileStatus listed) {
        Inode inode = table.of(listed.id(), listed.directory());
        return table.parentNow(inode) == null ? inode : null;
    }

    private Store.Page page(Inode directory, String startAfter) throws StoreException {
        for (int tries = 1; ; tries++) {
            long issued = metadata.generation().issued();
            String path = metadata.pathOf(directory);
            try {
                return store.list(path, startAfter, PAGE + 1).truncateAtStableCursor();
            } catch (StoreException e) {
                boolean yesterday =
                        e.errno() == Errno.ENOENT && metadata.pathLocks().directoryMovedSince(issued, path);
                if (!yesterday || tries == Metadata.MAX_TRIES) {
                    throw e;
                }
            }
        }
    }

    /**
     * A part of a listing.
     *
     * @param page what is shown of it
     * @param last the last name of the part, shown or not
     * @param more does it go on?
     */
    public record Listed(ListingPage page, String last, boolean more) {}

    /**
     * Reads the part of a listing behind a name, to make what is known of the directory young again, and to add names of
     * which nothing is known. What was changed here meanwhile stays as it is: the listing may be older.
     */
    Confirmed confirm(Inode directory, String startAfter) throws StoreException {
        Request request = request();
        Store.Page page = page(directory, startAfter);
        String last = startAfter;
        NameCodec names = metadata.locations().names(directory);
        for (FileStatus status : page.entries()) {
            last = status.name();
            if (isShown(last, names)) {
                confirm(directory, names.shown(last), status, request);
            }
        }
        return new Confirmed(last, page.more());
    }

    private void confirm(Inode directory, Name name, FileStatus status, Request request) throws StoreException {
        Dentries.Dentry dentry = directory.dentries().find(name);
        Inode child = dentry == null ? null : dentry.child();
        if (child == null) {
            boolean missed = dentry != null && dentry.generation() < request.issued;
            if (missed) {
                invalidator.moved(directory, List.of(name.copy()));
            }
            // One that this mount took away may be back in Alluxio alone.
            if ((dentry == null || missed) && !directory.dentries().wasTaken(name)) {
                metadata.place(directory, name, status, request.issued);
            }
            return;
        }
        if (child.fileId() == status.id()) {
            metadata.see(child, status, request.issued, request.nanos);
            table.see(directory, name, child, request.issued, request.nanos);
        }
    }

    /** A part of a listing that was read to confirm what is known: its last name, and whether it goes on. */
    record Confirmed(String last, boolean more) {}

    /**
     * When Alluxio was asked for names.
     *
     * @param nanos by the volume's clock
     * @param issued {@link Generation#issued}
     */
    private record Request(long nanos, long issued) {}

    private Request request() {
        return new Request(metadata.nowNanos(), metadata.generation().issued());
    }
}
