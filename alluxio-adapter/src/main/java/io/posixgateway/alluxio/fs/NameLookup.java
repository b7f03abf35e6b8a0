package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Dentries;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import org.jspecify.annotations.Nullable;

/** Finds names, in what is known where that is believed, else in Alluxio; also called where waiting is not allowed. */
final class NameLookup {
    private final VolumeContext volume;

    NameLookup(VolumeContext volume) {
        this.volume = volume;
    }

    int lookup(Request request, Inode directory, Name name, Entry entry) throws StoreException {
        Dentries.Dentry known = known(request, directory, name);
        Inode child = known == null ? null : known.child();
        if (child == null && knownMissing(directory, name, known, entry)) {
            return missing(entry);
        }
        if (child != null && !(request.mayWait() && isOld(child))) {
            return volume.enter(request, child, entry);
        }
        Inode here = hereOnly(directory, name);
        if (here != null) {
            return volume.enter(request, here, entry);
        }
        Inode last = lastKnown(request, directory, name);
        if (last != null) {
            return volume.enter(request, last, entry);
        }
        if (!request.mayWait()) {
            return FileSystem.WOULD_WAIT;
        }
        return child == null && isMissingStill(directory, name, entry)
                ? missing(entry)
                : lookOrLast(request, directory, name, entry);
    }

    /** Where no master answers, what has the name as far as is known. */
    private int lookOrLast(Request request, Inode directory, Name name, Entry entry) throws StoreException {
        try {
            return look(request, directory, name, entry);
        } catch (StoreException e) {
            Inode last = e.isOutcomeUnknown() ? lastKnown(request, directory, name) : null;
            if (last == null) {
                throw e;
            }
            return volume.enter(request, last, entry);
        }
    }

    /** What has the name as far as is known, where no master answers; null: nothing that counts. */
    private @Nullable Inode lastKnown(Request request, Inode directory, Name name) throws StoreException {
        Inode last = volume.table.child(directory, name);
        return last != null && volume.lastKnown.counts(request, last) ? last : null;
    }

    private boolean isOld(Inode child) {
        return volume.metadata.known(child) == null && !volume.dirtyFiles.has(child);
    }

    /** What was known to be missing, is it so after a look at the directory? Then the entry says for how long. */
    private boolean isMissingStill(Inode directory, Name name, Entry entry) throws StoreException {
        if (!volume.metadata.missing().lookWhetherChanged(directory, name)) {
            return false;
        }
        Dentries.Dentry known = volume.metadata.known(directory, name);
        return (known == null || known.child() == null) && knownMissing(directory, name, known, entry);
    }

    private int look(Request request, Inode directory, Name name, Entry entry) throws StoreException {
        volume.hot.asked(directory);
        Inode found = volume.metadata.look(directory, name);
        if (found != null) {
            return volume.enter(request, found, entry);
        }
        entry.validNanos = volume.metadata.missing().leftNanos(directory, name, volume.cachePolicy.nowNanos());
        return missing(entry);
    }

    /**
     * Is it known that nothing has the name? Then the entry says for how long.
     *
     * @param known of the name itself, which has no child; null: nothing
     */
    private boolean knownMissing(Inode directory, Name name, Dentries.@Nullable Dentry known, Entry entry) {
        if (known == null && !volume.metadata.missing().known(directory, name)) {
            return false;
        }
        long seenNanos = known == null ? directory.dentries().completeNanos() : known.seenNanos();
        if (known == null) {
            volume.invalidator.moved(directory, directory.dentries().tellMissing(name, seenNanos));
        }
        entry.validNanos = volume.metadata.missing().leftNanos(directory, name, seenNanos);
        return true;
    }

    private static int missing(Entry entry) {
        return entry.validNanos > 0 ? 0 : -Errno.ENOENT;
    }

    /** What is known of a name. While what has it is being taken away: what is known afterwards; null for those who do not wait. */
    private Dentries.@Nullable Dentry known(Request request, Inode directory, Name name) throws StoreException {
        Dentries.Dentry known = volume.metadata.known(directory, name);
        Inode child = known == null ? null : known.child();
        if (child == null || !child.isGoing()) {
            return known;
        }
        if (!request.mayWait()) {
            return null;
        }
        volume.metadata.pathLocks().shared(child, () -> child);
        return volume.metadata.known(directory, name);
    }

    /** A new file that has the name and that Alluxio knows nothing of, since its commit was given up; null: there is none. */
    @Nullable
    Inode hereOnly(Inode directory, Name name) {
        Inode here = volume.table.child(directory, name);
        return here != null && volume.dirtyFiles.isHereOnly(here) ? here : null;
    }
}
