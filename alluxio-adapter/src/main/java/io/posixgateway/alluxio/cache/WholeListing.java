package io.posixgateway.alluxio.cache;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Dentries;
import io.posixgateway.alluxio.inode.Facts;
import io.posixgateway.alluxio.inode.Inode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The names of a directory that is being listed from its beginning, which are kept if there are not too many. Guarded by who
 * lists.
 *
 * <p>While a client replaces a file there is a moment in which Alluxio lists neither the old one nor the new: only that client
 * knows of it. So what is kept names the directory's own time and number of entries from before the listing, and is believed
 * by nobody until they were found the same after it ({@link Metadata#believesAll}).
 */
public final class WholeListing {
    private final Inode directory;
    private final int most;
    private final Dentries.@Nullable AllNames names;
    private final List<Inode> all = new ArrayList<>();

    private WholeListing(Inode directory, int most, Dentries.@Nullable AllNames names) {
        this.directory = directory;
        this.most = most;
        this.names = names;
    }

    /**
     * Before the first part is read. Waits only where Alluxio has not said how the directory is.
     *
     * @param most names that are kept
     */
    public static WholeListing begin(Metadata metadata, Inode directory, int most) {
        return new WholeListing(directory, most, since(metadata, directory));
    }

    /** Null: nothing is to be kept. */
    private static Dentries.@Nullable AllNames since(Metadata metadata, Inode directory) {
        long nowNanos = metadata.nowNanos();
        Freshness freshness = metadata.freshness(directory);
        if (freshness.immutable()) {
            return new Dentries.AllNames(nowNanos, null);
        }
        Facts before = freshness.fresh(nowNanos) ? said(metadata, directory) : null;
        return before == null ? null : new Dentries.AllNames(nowNanos, before);
    }

    /** Null: that is not to be had; listing it will say why. */
    private static @Nullable Facts said(Metadata metadata, Inode directory) {
        Facts said = directory.dentries().said();
        try {
            return said != null ? said : metadata.refresh(directory);
        } catch (StoreException e) {
            return null;
        }
    }

    /** The next part. False: it was the last, or no more are wanted. */
    public boolean add(Metadata.Listed part) {
        if (names == null || all.size() + part.page().count() > most) {
            return false;
        }
        part.page().addTo(all);
        if (!part.more()) {
            directory.dentries().keepListing(all, names);
        }
        return part.more();
    }

    /**
     * After the last part of a listing that is for making new files: believes it. Where this mount made some meanwhile, the
     * directory's time tells nothing of others, and what is kept is believed without.
     */
    void believe(Metadata metadata) throws StoreException {
        if (names != null && directory.dentries().said() == null) {
            directory.dentries().compared(names, true);
        } else {
            metadata.believesAll(directory);
        }
    }
}
