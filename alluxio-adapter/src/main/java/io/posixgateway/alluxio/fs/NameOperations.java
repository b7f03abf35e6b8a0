package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.journal.RenameLog;
import io.posixgateway.alluxio.journal.SillyRenames;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Dentries;
import io.posixgateway.alluxio.meta.DirectoryTimes;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.NameChange;
import io.posixgateway.alluxio.meta.PathLocks;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.write.DirtyFiles;
import io.posixgateway.alluxio.write.NameReservations;
import io.posixgateway.alluxio.write.PendingCreate;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.Stat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Names: made, moved, removed. All but lookup are called where waiting is allowed. */
final class NameOperations {
    private static final Logger LOG = LoggerFactory.getLogger(NameOperations.class);

    private final VolumeContext volume;
    private final NameLookup lookup;
    private final NewFiles newFiles;
    private final DirectoryRemoval removal;
    private final PathLocks pathLocks;

    NameOperations(VolumeContext volume) {
        this.volume = volume;
        this.lookup = new NameLookup(volume);
        this.newFiles = new NewFiles(volume);
        this.removal = new DirectoryRemoval(volume);
        this.pathLocks = volume.metadata.pathLocks();
    }

    private @Nullable Inode child(Inode directory, Name name) throws StoreException {
        Inode here = lookup.hereOnly(directory, name);
        return here != null ? here : volume.metadata.child(directory, name);
    }

    /** Deletes the file of this path; one that Alluxio knows nothing of is deleted already. */
    private void delete(Inode child, String path) throws StoreException {
        try {
            volume.store.delete(path);
        } catch (StoreException e) {
            if (e.errno() != Errno.ENOENT || !volume.dirtyFiles.isHereOnly(child)) {
                throw e;
            }
        }
    }

    int lookup(Request request, Inode directory, Name name, Entry entry) throws StoreException {
        int refused = refuse(directory, name, Errno.ENOENT);
        return refused != 0 ? refused : lookup.lookup(request, directory, name, entry);
    }

    /**
     * Names that cannot be here: the negative errno, or 0.
     *
     * @param hiddenErrno for names of the gateway's own; ENOENT where a name is looked for, which then is missing if it cannot be
     */
    private int refuse(Inode directory, Name name, int hiddenErrno) {
        if (!directory.isDirectory()) {
            return -Errno.ENOTDIR;
        }
        if (directory.unlinked()) {
            return -Errno.ENOENT; // another directory may be at its path
        }
        int refused = volume.table.names(directory).refusal(name);
        if (refused != 0) {
            return refused == -Errno.EINVAL && hiddenErrno == Errno.ENOENT ? -Errno.ENOENT : refused;
        }
        return TempNames.is(name) ? -hiddenErrno : 0;
    }

    /** The same for a name that is to be made, where waiting is allowed. */
    private int refuseToMake(Inode directory, Name name) throws StoreException {
        volume.metadata.locations().findStore(directory, name);
        return refuse(directory, name, Errno.EPERM);
    }

    /** What is to be made: type and permissions, and what belongs to special types. */
    record Making(int mode, int device, Name target) {
        static final Name NO_TARGET = Name.of(new byte[0]);
    }

    /** Makes anything but a directory, complete and closed. */
    int make(Request request, Inode directory, Name name, Making making, Entry entry) throws StoreException {
        Inode made = begin(request, directory, name, making, false);
        if (made == null) {
            return refuseToMake(directory, name);
        }
        volume.lastWriterClosed(made);
        return volume.enter(request, made, entry);
    }

    /**
     * Takes the name for a new file that is being written from now on; null: refused.
     *
     * @param opened somebody will have it open, and close it
     */
    @Nullable
    Inode begin(Request request, Inode directory, Name name, Making making, boolean opened) throws StoreException {
        if (refuseToMake(directory, name) != 0) {
            return null;
        }
        FileStatus planned = newFiles.plan(request, directory, making);
        return pathLocks.shared(directory, () -> {
            String path = freePathOf(directory, name);
            PendingCreate dirtyFile = volume.dirtyFiles.prepare(path, planned, opened);
            try (NameChange change = volume.metadata.times().changing(directory)) {
                StoreWriter sink = take(directory, name, dirtyFile);
                Inode made = create(directory, name, new Taken(dirtyFile, sink), planned);
                change.made(sink.madeMillis());
                return made;
            }
        });
    }

    /** Of a name that is to be made; EEXIST where a new file has it whose upload failed: Alluxio knows nothing of it, and would give it again. */
    private String freePathOf(Inode directory, Name name) throws StoreException {
        String path = volume.metadata.newPathOf(directory, name);
        if (lookup.hereOnly(directory, name) != null) {
            throw new StoreException(Errno.EEXIST, path + " is a new file that could not be uploaded yet", null);
        }
        return path;
    }

    /** A name that is taken in Alluxio, and the dirty file of the file. */
    private record Taken(PendingCreate dirtyFile, StoreWriter sink) {}

    private Inode create(Inode directory, Name name, Taken taken, FileStatus planned) throws StoreException {
        StoreWriter sink = taken.sink;
        FileStatus status = planned.withContent(sink.fileId(), 0);
        Inode made = volume.metadata.place(directory, name, status);
        made.markOurs();
        directory.dentries().named(made, null, name, true);
        try {
            Attr attr = volume.attrDecoder.read(status, volume.cachePolicy.nowNanos());
            volume.dirtyFiles.created(made, sink, attr, taken.dirtyFile);
        } catch (StoreException e) {
            giveBack(new Place(directory, name), taken);
            throw e;
        }
        return made;
    }

    /** A file that the spool's disk has no room for, or that cannot be recorded there: nobody is to find it. */
    private void giveBack(Place place, Taken taken) {
        taken.sink.cancel();
        volume.dirtyFiles.nameReservations().giveBack(taken.dirtyFile, taken.sink);
        takenAway(place);
    }

    /**
     * A new file that has no name and is open; null: not in a directory. Alluxio knows no such file: it gets a hidden name, which is
     * taken away at once, and from then on it is as any file that was deleted while it is open.
     */
    @Nullable
    Inode beginNameless(Request request, Inode directory, Making making) throws StoreException {
        if (!directory.isDirectory()) {
            return null;
        }
        if (directory.unlinked()) {
            throw new StoreException(
                    Errno.ENOENT, "The directory was removed; its path may name another one now", null);
        }
        FileStatus planned = newFiles.plan(request, directory, making);
        return pathLocks.shared(directory, () -> {
            Name name = TempNames.make();
            String path = volume.metadata.newPathOf(directory, name);
            volume.hidden.add(new SillyRenames.Hidden(path, 0, 0));
            try (DirectoryTimes.Replacement unseen = volume.metadata.times().replacing(directory)) {
                Taken taken = takeHidden(directory, name, path, planned);
                unseen.made(taken.sink.madeMillis());
                Inode made = create(directory, name, taken, planned);
                takeNameAway(made, path);
                return made;
            }
        });
    }

    private Taken takeHidden(Inode directory, Name name, String path, FileStatus planned) throws StoreException {
        try {
            PendingCreate dirtyFile = volume.dirtyFiles.prepare(path, planned, true);
            return new Taken(dirtyFile, take(directory, name, dirtyFile));
        } catch (StoreException e) {
            if (!e.isOutcomeUnknown()) {
                volume.hidden.remove(path);
            }
            throw e;
        }
    }

    private void takeNameAway(Inode made, String path) throws StoreException {
        try {
            volume.dirtyFiles.unlink(made, () -> volume.store.delete(path));
            volume.hidden.remove(path);
        } catch (StoreException e) {
            volume.dirtyFiles.discard(made);
            throw e;
        } finally {
            volume.table.detach(made);
        }
    }

    private StoreWriter take(Inode directory, Name name, PendingCreate dirtyFile) throws StoreException {
        try {
            return volume.dirtyFiles.nameReservations().take(dirtyFile);
        } catch (StoreException e) {
            if (e.errno() == Errno.EEXIST) {
                volume.metadata.look(directory, name);
            }
            throw e;
        }
    }

    int refusal(Inode directory, Name name) throws StoreException {
        return refuseToMake(directory, name);
    }

    int mkdir(Request request, Inode directory, Name name, int mode, Entry entry) throws StoreException {
        int refused = refuseToMake(directory, name);
        if (refused != 0) {
            return refused;
        }
        FileStatus planned = newFiles.plan(request, directory, new Making(Stat.S_IFDIR | mode, 0, Making.NO_TARGET));
        Inode made;
        try (NameChange change = volume.metadata.times().changing(directory)) {
            made = changing(() -> makeDirectory(directory, name, planned), new Place(directory, name));
            change.made(madeMillis(made));
        }
        directory.dentries().named(made, null, name, true);
        if (made.isDirectory()) {
            made.dentries().nowComplete(volume.cachePolicy.nowNanos());
        }
        return volume.enter(request, made, entry);
    }

    private Inode makeDirectory(Inode directory, Name name, FileStatus planned) throws StoreException {
        String made = pathLocks.shared(directory, () -> {
            String path = freePathOf(directory, name);
            return NameReservations.taking(volume.store, path, () -> {
                volume.store.makeDirectory(path, planned.mode(), planned.xattrs());
                return path;
            });
        });
        Inode found = volume.metadata.look(directory, name);
        if (found == null) {
            throw new StoreException(
                    Errno.ENOENT, made + " was removed by another client as soon as it was made", null);
        }
        return found;
    }

    /** Of a directory that was just made; 0: others have made names in it already. */
    private static long madeMillis(Inode made) {
        Attr attr = made.attr();
        FileStatus raw = attr == null ? null : attr.raw();
        return raw == null || raw.lengthBytes() > 0 ? 0 : raw.modifiedMillis();
    }

    int unlink(Inode directory, Name name) throws StoreException {
        int refused = refuse(directory, name, Errno.ENOENT);
        if (refused != 0) {
            return refused;
        }
        volume.replacer.unfinished().settle(volume.metadata.pathOf(directory, name));
        Inode child = child(directory, name);
        if (child == null) {
            return -Errno.ENOENT;
        }
        if (child.isDirectory()) {
            return -Errno.EISDIR;
        }
        return take(child, new Place(directory, name), path -> {
            volume.dirtyFiles.completeStream(child);
            if (volume.mayBeOpen(child) && !volume.dirtyFiles.has(child)) {
                hide(directory, child, path);
                return 0;
            }
            volume.orphans.hold(child);
            orphan(child, () -> volume.dirtyFiles.unlink(child, () -> delete(child, path)));
            return -1;
        });
    }

    /** Something that takes a name away. */
    private interface Taking {
        /** Returns how many more names Alluxio has in the directory. */
        int from(String path) throws StoreException;
    }

    private int take(Inode child, Place place, Taking taking) throws StoreException {
        try (NameChange change = volume.metadata.times().changing(place.directory)) {
            DirtyFiles.Step step = () -> {
                int names;
                child.startGoing();
                try {
                    String path = volume.metadata.pathOf(place.directory, place.name);
                    volume.replacer.unfinished().settle(path); // what was in flight until now may have come to no end
                    names = taking.from(path);
                } finally {
                    child.endGoing();
                }
                takenAway(place);
                change.done(names);
            };
            changing(() -> alone(child, place, place, step), place);
        }
        return 0;
    }

    /** Changes names; where nobody knows whether it did, they are asked for again. */
    private <T> T changing(PathLocks.Work<T> work, Place... places) throws StoreException {
        try {
            return work.run();
        } catch (StoreException e) {
            for (Place place : places) {
                volume.invalidator.unsure(volume.table, place.directory, place.name, e);
            }
            throw e;
        }
    }

    private void takenAway(Place place) {
        long nowNanos = volume.cachePolicy.nowNanos();
        volume.invalidator.moved(place.directory, volume.table.taken(place.directory, place.name, nowNanos));
    }

    /** Moves an open file to a hidden name, where it stays until it is closed. */
    private void hide(Inode directory, Inode child, String path) throws StoreException {
        Name hidden = TempNames.make();
        String hiddenPath = volume.metadata.pathOf(directory, hidden);
        volume.hidden.add(new SillyRenames.Hidden(hiddenPath, child.fileId(), child.node()));
        try {
            volume.store.rename(path, hiddenPath, false);
        } catch (StoreException e) {
            Name found = volume.sillyRenameCleanup.hiddenAs(child, path, hiddenPath, e);
            if (found == null) {
                throw e;
            }
            hidden = found;
        }
        child.markUnlinked();
        volume.table.attach(directory, hidden, child, volume.cachePolicy.nowNanos());
    }

    int rmdir(Inode directory, Name name) throws StoreException {
        int refused = refuse(directory, name, Errno.ENOENT);
        if (refused != 0) {
            return refused;
        }
        volume.replacer.unfinished().settle(volume.metadata.pathOf(directory, name));
        Inode child = child(directory, name);
        if (child == null) {
            return -Errno.ENOENT;
        }
        if (!child.isDirectory()) {
            return -Errno.ENOTDIR;
        }
        return take(child, new Place(directory, name), path -> {
            removal.remove(directory, child, path);
            return -1;
        });
    }

    /** A directory and a name in it. */
    record Place(Inode directory, Name name) {}

    int rename(Place from, Place to, int flags) throws StoreException {
        int refused = refuse(from.directory, from.name, Errno.ENOENT);
        refused = refused != 0 ? refused : refuseToMake(to.directory, to.name);
        if (refused != 0 || (flags & ~Stat.RENAME_NOREPLACE) != 0) {
            return refused != 0 ? refused : -Errno.EINVAL;
        }
        settle(from, to);
        Inode child = child(from.directory, from.name);
        if (child == null) {
            return -Errno.ENOENT;
        }
        Inode target = child(to.directory, to.name);
        boolean inTheWay = target != null && !isContinued(child, from, to);
        if (inTheWay && target == child) {
            return 0;
        }
        if (inTheWay && (flags & Stat.RENAME_NOREPLACE) != 0) {
            return -Errno.EEXIST;
        }
        volume.lengths.check(child, volume.metadata.pathOf(from.directory, from.name), to.directory, to.name);
        move(child, from, to, target, (flags & Stat.RENAME_NOREPLACE) == 0);
        if (volume.cachePolicy.differs(from.directory, from.name, to.directory, to.name)) {
            volume.invalidator.askAgain(child);
        }
        return 0;
    }

    /** Before a rename: what earlier ones, whose outcome is not known, have yet to do to what is renamed, or below it. */
    private void settle(Place from, Place to) throws StoreException {
        String path = volume.metadata.pathOf(from.directory, from.name);
        volume.replacer.settleFree(path);
        volume.replacer.unfinished().settle(path, volume.metadata.pathOf(to.directory, to.name));
        volume.dirtyFiles.nameReservations().settle(volume.metadata.pathOf(to.directory, to.name));
    }

    /** And the times of both directories with it. */
    private void move(Inode child, Place from, Place to, @Nullable Inode target, boolean replaces)
            throws StoreException {
        DirectoryTimes times = volume.metadata.times();
        try (NameChange leaves = times.changing(from.directory);
                NameChange comes = times.changing(to.directory)) {
            PathLocks.Work<Inode> work = () -> {
                boolean free = renameOver(child, from, to, target, replaces);
                leaves.done(-1);
                comes.done(free ? 1 : 0);
                return child;
            };
            changing(work, from, to);
        }
    }

    /** Of a directory: goes on with what it has made. To a process that took over at its very end both names are the same node. */
    private boolean isContinued(Inode child, Place from, Place to) throws StoreException {
        String path = volume.metadata.pathOf(from.directory, from.name);
        boolean may = child.isDirectory() && !from.equals(to);
        return may && volume.directoryRename.isUnfinished(path, volume.metadata.pathOf(to.directory, to.name));
    }

    /** What others gave the name to since it was missed is seen when it is in the way. Was the name free? */
    private boolean renameOver(Inode child, Place from, Place to, @Nullable Inode target, boolean replaces)
            throws StoreException {
        try {
            rename(child, from, to, target);
            return target == null;
        } catch (StoreException e) {
            if (child.isDirectory() && target == null) {
                showPart(to);
            }
            boolean appeared = replaces && target == null && e.errno() == Errno.EEXIST;
            Inode there = appeared ? volume.metadata.look(to.directory, to.name) : null;
            if (there == null) {
                throw e;
            }
            rename(child, from, to, there);
            volume.buryIfClosed(there); // the kernel may never have known it, and then says nothing of it
            return false;
        }
    }

    /** A directory that moves file by file has both names where it does not come to its end. */
    private void showPart(Place to) {
        try {
            if (volume.metadata.look(to.directory, to.name) != null) {
                volume.invalidator.moved(to.directory, List.of(to.name));
            }
        } catch (StoreException e) {
            LOG.debug("Cannot determine whether part of a directory was moved: {}", e.getMessage());
        }
    }

    /** @param target what has the other name now, as far as is known; null: nothing */
    private void rename(Inode child, Place from, Place to, @Nullable Inode target) throws StoreException {
        alone(child, from, to, () -> {
            if (target == null || target.isDirectory()) {
                move(child, from, to, target);
            } else {
                alone(target, to, to, () -> moveOver(child, from, to, target));
            }
            volume.table.attach(to.directory, to.name, child, volume.cachePolicy.nowNanos());
            Name before = from.directory == to.directory ? from.name : null;
            to.directory.dentries().named(child, before, to.name, target == null);
            takenAway(from);
        });
    }

    /** While nobody goes by the path of what is moved, or by one below it, and nothing above moves. */
    private Inode alone(Inode child, Place from, Place to, DirtyFiles.Step step) throws StoreException {
        PathLocks.Work<Inode> work = () -> {
            step.run();
            return child;
        };
        if (!child.isDirectory()) {
            return pathLocks.shared(
                    from.directory, () -> pathLocks.shared(to.directory, () -> pathLocks.exclusive(child, work)));
        }
        return from.equals(to)
                ? pathLocks.exclusive(child, work)
                : pathLocks.rename(child, to.directory, to.name, work);
    }

    /** The name stays in listings meanwhile. */
    private void moveOver(Inode child, Place from, Place to, Inode target) throws StoreException {
        Dentries names = to.directory.dentries();
        names.replacing(to.name, child);
        target.startGoing();
        try {
            move(child, from, to, target);
            volume.table.attach(to.directory, to.name, child, volume.cachePolicy.nowNanos());
        } finally {
            target.endGoing();
            names.replaced(to.name, volume.cachePolicy.nowNanos());
        }
    }

    private void move(Inode child, Place from, Place to, @Nullable Inode target) throws StoreException {
        String path = volume.metadata.pathOf(from.directory, from.name);
        String newPath = volume.metadata.pathOf(to.directory, to.name);
        volume.replacer.unfinished().settle(path, newPath); // as in take
        volume.dirtyFiles.nameReservations().settle(newPath);
        if (target != null && target.isDirectory() != child.isDirectory()) {
            int errno = child.isDirectory() ? Errno.ENOTDIR : Errno.EISDIR;
            throw new StoreException(errno, newPath + " is of another kind", null);
        }
        if (child.isDirectory()) {
            volume.dirtyFiles.completeNew(path, volume.store.copiesOnRename(newPath));
            if (target != null && !volume.directoryRename.isUnfinished(path, newPath)) {
                removal.replace(to.directory, target, newPath, path, () -> moveDirectory(child, path, newPath));
            } else {
                moveDirectory(child, path, newPath);
            }
        } else if (target == null) {
            volume.dirtyFiles.move(child, () -> renameToFree(child, path, newPath));
        } else {
            replace(child, target, newPath, () -> replaceOnce(child, path, target, newPath));
        }
    }

    private void moveDirectory(Inode child, String path, String newPath) throws StoreException {
        if (volume.store.copiesOnRename(newPath)) {
            volume.directoryRename.run(path, newPath);
        } else {
            renameToFree(child, path, newPath);
        }
    }

    private void renameToFree(Inode child, String path, String newPath) throws StoreException {
        RenameLog.Renaming renaming = new RenameLog.Renaming(path, child.fileId(), newPath);
        volume.replacer.renameToFree(renaming, attr(child, newPath));
    }

    private void replaceOnce(Inode child, String path, Inode target, String newPath) throws StoreException {
        Attr renamed = attr(child, newPath);
        RenameLog.Renaming renaming = new RenameLog.Renaming(path, child.fileId(), newPath);
        long fileId = volume.replacer.replace(renaming, renamed, target.attr());
        if (fileId != renaming.fileId()) {
            volume.table.adopt(child, fileId, volume.cachePolicy.nowNanos());
            child.invalidateAttr(volume.table.generation().changed());
        }
    }

    private void replace(Inode child, Inode target, String newPath, DirtyFiles.Step step) throws StoreException {
        boolean kept = volume.orphans.keepContent(target);
        try {
            if (volume.store.deletesToReplace(newPath)) {
                volume.dirtyFiles.giveUpName(target);
            }
            orphan(target, () -> volume.dirtyFiles.move(child, () -> volume.dirtyFiles.unlink(target, step)));
        } catch (StoreException e) {
            if (kept) {
                volume.lastWriterFailed(target, e);
            }
            throw e;
        }
    }

    /** The file loses its name by this step. What the kernel may still want of it is held already. */
    private void orphan(Inode inode, DirtyFiles.Step step) throws StoreException {
        try {
            step.run();
        } catch (StoreException e) {
            volume.orphans.release(inode);
            throw e;
        }
        volume.table.detach(inode);
    }

    /** As it is now, where a copy may lose it; else as far as it is known. */
    private @Nullable Attr attr(Inode child, String newPath) throws StoreException {
        return volume.store.copiesOnRename(newPath) ? volume.metadata.attr(child) : child.attr();
    }
}
