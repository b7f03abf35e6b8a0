package io.posixgateway.alluxio;

import io.posixgateway.alluxio.cache.Metadata;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Dentries;
import io.posixgateway.alluxio.inode.Facts;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.Stat;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An open directory: goes through the listing page by page, so that a huge one begins to be shown at once and is never in
 * memory whole. Offsets 0 and 1 are "." and "..", then the names follow. Guarded by its own monitor.
 */
final class DirectoryHandle {
    private static final Name DOT = Name.of(".");
    private static final Name DOT_DOT = Name.of("..");
    /** Directories of up to so many names are kept as a whole when they were read to the end. */
    private static final int MOST_KEPT = 20_000;

    private final Volume volume;
    private final Inode directory;
    private final Entry entry = new Entry();

    /** The page at hand, and the index of its first name in the listing. */
    private List<Name> page = List.of();

    private long pageStart;
    private String last = "";
    private boolean more = true;
    private @Nullable List<Name> all = new ArrayList<>();
    private long startedNanos;

    DirectoryHandle(Volume volume, Inode directory) {
        this.volume = volume;
        this.directory = directory;
    }

    /** One that was opened in an earlier process, whose offsets mean the same: the listing is sorted. */
    static DirectoryHandle resumed(Volume volume, Inode directory) {
        DirectoryHandle handle = new DirectoryHandle(volume, directory);
        handle.restart();
        return handle;
    }

    synchronized int read(Request request, long offset, DirectoryWriter writer) throws StoreException {
        if (offset == 0 || (offset >= 2 && offset - 2 < pageStart)) {
            restart();
        }
        long at = offset;
        while (true) {
            if (at < 2) {
                if (!addDot(at, writer)) {
                    return 0;
                }
                at++;
                continue;
            }
            int loaded = load(request, at - 2);
            if (loaded == FileSystem.WOULD_WAIT) {
                return at == offset ? loaded : 0;
            }
            if (loaded == 0 || !addChild(request, page.get((int) (at - 2 - pageStart)), at, writer)) {
                return 0;
            }
            at++;
        }
    }

    private synchronized void restart() {
        pageStart = 0;
        last = "";
        all = new ArrayList<>();
        startedNanos = volume.freshness.nowNanos();
        Dentries dentries = directory.dentries();
        List<Name> kept = dentries.listing();
        boolean fresh = kept != null && volume.freshness.fresh(dentries.listedNanos());
        page = kept != null && fresh ? kept : List.of();
        more = !fresh;
        if (fresh) {
            all = null;
        }
    }

    /** Brings the page that holds this name: 1 there, 0 the listing ends before it, or WOULD_WAIT. */
    private int load(Request request, long index) throws StoreException {
        while (index >= pageStart + page.size()) {
            if (!more) {
                return 0;
            }
            if (!request.mayWait()) {
                return FileSystem.WOULD_WAIT;
            }
            Metadata.Listed next = volume.metadata.list(directory, last);
            pageStart += page.size();
            page = next.names();
            last = next.last();
            more = next.more();
            keep();
        }
        return 1;
    }

    private void keep() {
        List<Name> names = all;
        if (names == null) {
            return;
        }
        names.addAll(page);
        if (names.size() > MOST_KEPT) {
            all = null;
        } else if (!more) {
            directory.dentries().keepListing(List.copyOf(names), startedNanos);
            all = null;
        }
    }

    private boolean addDot(long at, DirectoryWriter writer) {
        Inode parent = at == 0 ? directory : volume.table.parent(directory);
        long node = parent == null ? directory.node() : parent.node();
        Name name = at == 0 ? DOT : DOT_DOT;
        if (!writer.plus()) {
            return writer.add(name, at + 1, node, Stat.S_IFDIR);
        }
        entry.clear();
        entry.attributes.inode = node;
        entry.attributes.mode = Stat.S_IFDIR;
        return writer.add(name, at + 1, entry);
    }

    /** False: no room. A name that went away meanwhile is passed over. */
    private boolean addChild(Request request, Name name, long at, DirectoryWriter writer) throws StoreException {
        Dentries.Dentry dentry = directory.dentries().find(name);
        Inode child = dentry == null ? null : dentry.child();
        if (child == null) {
            return true;
        }
        Facts facts = volume.metadata.known(child);
        int type = facts != null ? facts.mode() & Stat.S_IFMT : child.isDirectory() ? Stat.S_IFDIR : 0;
        if (!writer.plus()) {
            return writer.add(name, at + 1, child.node(), type);
        }
        entry.clear();
        boolean drafted = volume.drafts.has(child);
        if (facts == null || (drafted && !request.mayWait()) || volume.show(request, child, entry.attributes) != 0) {
            entry.clear();
            entry.attributes.inode = child.node();
            entry.attributes.mode = type;
            return writer.add(name, at + 1, entry);
        }
        entry.node = child.node();
        entry.validNanos = entry.attributes.validNanos;
        if (!writer.add(name, at + 1, entry)) {
            return false;
        }
        child.lookedUp();
        return true;
    }
}
