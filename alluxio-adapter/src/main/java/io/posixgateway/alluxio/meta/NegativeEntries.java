package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;

/** Names that lead nowhere, and for how long that is believed. Any thread. */
public final class NegativeEntries {
    /** So many names looked up in vain: then it pays to know all names of a directory. */
    private static final int IN_VAIN = 16;

    private final Metadata metadata;
    private final PathPolicies cachePolicy;

    NegativeEntries(Metadata metadata, PathPolicies cachePolicy) {
        this.metadata = metadata;
        this.cachePolicy = cachePolicy;
    }

    /** Is the name missing where all names are known, and still believed? Never waits. */
    public boolean known(Inode directory, Name name) {
        Dentries dentries = directory.dentries();
        long left = dentries.complete()
                ? leftNanos(directory, cachePolicy.of(directory, name), dentries.completeNanos())
                : 0;
        if (left <= 0) {
            return false;
        }
        Dentries.Dentry dentry = dentries.find(name);
        return dentry == null || dentry.child() == null;
    }

    /** For how long a name that was seen to be missing then is believed to be, here and in the kernel. Never waits. */
    public long leftNanos(Inode directory, Name name, long seenNanos) {
        return leftNanos(directory, cachePolicy.of(directory, name), seenNanos);
    }

    /**
     * What is known to be missing is dropped when others are seen to have changed its directory, so it is as young as the last look at
     * the directory. Alluxio notes the time of a change before it makes it, so one look may come too early to show it, and a look beside
     * changes by this mount shows little; hence nothing is believed beyond the time that everything else is.
     */
    long leftNanos(Inode directory, CachePolicy own, long seenNanos) {
        long lookedNanos = directory.dentries().lookedNanos();
        long latestNanos = lookedNanos - seenNanos > 0 ? lookedNanos : seenNanos;
        return Math.min(own.leftNanos(seenNanos), own.missingLeftNanos(latestNanos));
    }

    /**
     * Asks whether the directory of a name changed, if the name was missing not too long ago: one question for all such names.
     * What is known afterwards is as young as that. Waits.
     *
     * @return was that asked?
     */
    public boolean lookWhetherChanged(Inode directory, Name name) throws StoreException {
        Dentries dentries = directory.dentries();
        Dentries.Dentry dentry = dentries.find(name);
        CachePolicy own = cachePolicy.of(directory, name);
        boolean missing = (dentry == null || dentry.child() == null)
                && ((dentries.complete() && own.fresh(dentries.completeNanos()))
                        || (dentry != null && own.fresh(dentry.seenNanos())));
        try {
            if (missing && own.believesMissing()) {
                metadata.refresh(directory);
                return true;
            }
        } catch (StoreException e) {
            if (e.errno() != Errno.ESTALE) {
                throw e;
            }
        }
        return false;
    }

    /** Ever more seldom where it did not help, as others change the directory all the time. */
    static boolean paysToLearn(int inVain) {
        return inVain >= IN_VAIN && Integer.bitCount(inVain) == 1;
    }
}
