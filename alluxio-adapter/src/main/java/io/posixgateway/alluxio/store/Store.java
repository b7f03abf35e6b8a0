package io.posixgateway.alluxio.store;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What the adapter needs of Alluxio. Paths are absolute in Alluxio. Any method may wait for seconds; any number of threads.
 */
public interface Store extends AutoCloseable {
    FileStatus status(String path) throws StoreException;

    /** Most bytes of a path that may be made below this directory, as the under file system has it; see {@link PathLimit}. */
    int longestPath(String directory) throws StoreException;

    /** Makes the connection to the master, before the first call. Waits. */
    void connect() throws StoreException;

    /** Where the file of this id is now; ENOENT when it is gone. */
    String pathOf(long fileId) throws StoreException;

    /**
     * A part of a listing.
     *
     * @param entries in the order of names
     * @param more does the listing go on behind the last entry?
     */
    record Page(List<FileStatus> entries, boolean more) {
        /**
         * The same up to a name behind which a next part may begin. Alluxio lists a file that is just taking another name with
         * that in the place of its own: to go on behind it would leave names out, or show them twice. A name that lies between
         * its neighbours does no such harm.
         */
        public Page truncateAtStableCursor() {
            for (int i = more ? entries.size() - 2 : -1; i > 0; i--) {
                String name = entries.get(i).name();
                if (entries.get(i - 1).name().compareTo(name) < 0
                        && name.compareTo(entries.get(i + 1).name()) < 0) {
                    return new Page(entries.subList(0, i + 1), true);
                }
            }
            return this;
        }
    }

    /**
     * Lists a part of a directory. The first one takes as long as Alluxio needs to load all of its names from the under file system,
     * minutes for a large one of an object store; no limit of time ends that, only an interrupt does.
     *
     * @param startAfter the last name already seen; empty: from the beginning
     */
    Page list(String path, String startAfter, int most) throws StoreException;

    /** The listings in flight for at least so long, the longest first, where that is known. Never waits. */
    default List<RunningListings.Listing> listings(long atLeastNanos) {
        return List.of();
    }

    /** The same of renames that {@link #copiesOnRename}, which take as long as the store copies; by the new paths. */
    default List<RunningListings.Listing> copies(long atLeastNanos) {
        return List.of();
    }

    /**
     * Lists the first part of a directory, after Alluxio has compared all of its names with the under file system: what was removed there
     * is gone, what is new or was replaced is loaded. The other parts are of {@link #list}.
     */
    Page listCompared(String path, int most) throws StoreException;

    /** As {@link #status}, after Alluxio has compared what it holds of the path with the under file system. */
    FileStatus compared(String path) throws StoreException;

    /**
     * Reserves the name for a new file, which is empty and incomplete until the sink is closed. EEXIST when it is taken.
     *
     * @param number of this creation: with the same one again nothing is made, and the answer is what the first one made
     */
    StoreWriter create(String path, int mode, Map<String, byte[]> xattrs, UUID number) throws StoreException;

    /**
     * Begins to write new content over a file where it is, in an object store: at no moment is there none. A {@link StoreWriter#complete}
     * puts it into the under file system alone. Alluxio learns of it by {@link #compared}: then the file has another id, unless the content
     * is the same, and no attributes; {@link #change} gives them back, owner and group included.
     *
     * <p>From the first write on the old content may be lost: where the writer is cancelled, or its process ends, a worker uploads what it
     * has, and then deletes the object. Reading and writing through a worker nobody is asked for a permission: that is done here.
     *
     * @param fileId of what is replaced
     * @return null: not this way. It is not in an object store, or another file by now, or only in Alluxio, or Alluxio does not let this user
     *     give its owner and group back
     */
    default @Nullable StoreWriter overwrite(String path, long fileId) throws StoreException {
        return null;
    }

    void makeDirectory(String path, int mode, Map<String, byte[]> xattrs) throws StoreException;

    /** Deletes a file or an empty directory. */
    void delete(String path) throws StoreException;

    /** Deletes a file in Alluxio alone: what the under file system has there stays. */
    void forget(String path) throws StoreException;

    /**
     * Renames a file or a directory.
     *
     * <p>What replaces a file where that {@link #deletesToReplace} is sent at most once. After a failure that {@link
     * StoreException#isOutcomeUnknown} either path may have the file, or both its content, or neither; sent again before somebody has
     * looked, it could delete the only copy. Of such failures those that say {@link StoreException#isUnanswered} may be sent again then.
     * Where it is one step, EIO that {@link StoreException#isOfRepetition} may have dropped in Alluxio what is there, and no more.
     *
     * @param overFile replace a file there in one step; both must be files. If false, EEXIST when something is there
     * @throws StoreException EXDEV where the two are in different under file systems; EISDIR where, by a look just before, a directory is to be
     *     replaced: it would be deleted with all that is below it
     */
    void rename(String from, String to, boolean overFile) throws StoreException;

    /**
     * Whether a rename over a file of this path deletes that file in the under file system, with all that is below it if it is a
     * directory by then, and puts a copy in its place: an object store cannot rename. Never waits for long; false where a rename is
     * one step of the under file system.
     */
    default boolean copiesOnRename(String path) throws StoreException {
        return false;
    }

    /**
     * Whether a rename over a file of this path deletes that file in the under file system before it takes its name: besides object
     * stores so does what renames in one step, but not over a file, such as HDFS, and any where this {@link #persists} later or never.
     * Never waits for long.
     */
    default boolean deletesToReplace(String path) throws StoreException {
        return copiesOnRename(path);
    }

    /** Whether the two paths lie in different under file systems, between which nothing is renamed. Never waits for long. */
    default boolean crossesMounts(String from, String to) throws StoreException {
        return false;
    }

    /**
     * What to change; null: leave.
     *
     * @param xattrs put beside, or over, those that are there
     */
    record Change(
            @Nullable Integer mode,
            @Nullable String owner,
            @Nullable String group,
            Map<String, byte[]> xattrs) {}

    void change(String path, Change change) throws StoreException;

    void removeXattr(String path, String name) throws StoreException;

    /** Opens a file for reading, wherever its blocks are; ESTALE when another file, or none, is at the path by now. */
    StoreReader open(String path, long fileId) throws StoreException;

    /** The same; and workers keep what they fetch for it, however young the file is. */
    StoreReader openToKeep(String path, long fileId) throws StoreException;

    /** The folder of block files of a worker on this host that has a block of this file; null when there is none. */
    @Nullable
    Path localBlockFolder(String path) throws StoreException;

    /** The folder of the file of this block, of a worker on this host; null when none has it. Waits. */
    @Nullable
    Path localBlockFolder(long blockId) throws StoreException;

    /** Tells the workers on this host that these blocks were read; returns how many of them they have. Waits. */
    int use(List<Long> blocks) throws StoreException;

    /**
     * Space in the workers.
     *
     * @param capacityBytes of all of them
     * @param usedBytes of all of them
     */
    record Capacity(long capacityBytes, long usedBytes) {}

    Capacity capacity() throws StoreException;

    /** Is a completed file in the under file system? If not, in the workers only, at first. */
    boolean persists();

    /** The same text for the same Alluxio. */
    String cluster();

    /** What no other Alluxio has, nor this one after it was formatted; empty: Alluxio does not say. Asked each time. */
    String clusterId() throws StoreException;

    /**
     * From now on calls notification when another Alluxio answers than before, or this one was formatted or restored. The first call that
     * does runs the listener, and fails with ESTALE when that has returned.
     *
     * @param clusterId the one of before, with which the next call compares; empty: the first one that is told is
     * @param listener gets the new cluster id; must not call this store
     */
    default void watchCluster(String clusterId, Consumer<String> listener) {}

    /**
     * Has the listener called whenever nobody listens at the address of the master, where there is only one.
     *
     * @param listener must not wait
     */
    default void onMasterAbsent(Runnable listener) {}

    /**
     * Whether block files on this host may be believed to be those of the Alluxio that was asked before. Never waits; where that is not
     * known, it is found out meanwhile.
     */
    default boolean mayReadBlocks() {
        return true;
    }

    /**
     * Waits for a moment, if need be, until it is known what {@link #mayReadBlocks} returns.
     *
     * @throws StoreException EINTR: the thread was interrupted
     */
    default void awaitMayReadBlocks() throws StoreException {}

    /**
     * How long no master has answered.
     *
     * @param trustNanos so long it is believed without asking anew that none does
     * @param mayWait whether it is asked, and waited for a moment; else 0, where that would be needed
     * @return 0: one answers, or may
     * @throws StoreException EINTR: the thread was interrupted
     */
    default long silentNanos(long trustNanos, boolean mayWait) throws StoreException {
        return 0;
    }

    /** Everything that can be told of a path. */
    FileDetails details(String path) throws StoreException;

    /** Has workers fetch what they lack of a path, in the background; false: the master has a load of it, which goes on. */
    boolean load(String path) throws StoreException;

    /** How far the last load of this path is. */
    LoadState loadState(String path) throws StoreException;

    /** Ends the load of this path. */
    void stopLoad(String path) throws StoreException;

    /** How many calls of metadata can be under way at the same time; more wait for their turn. */
    int mostCalls();

    /** Bytes that streams brought and no worker had. */
    long ufsBytes();

    /** How long calls took, where that is counted. */
    default RpcMetrics metrics() {
        throw new UnsupportedOperationException("not metered");
    }

    /** Every property this store was set up with; some values may be secrets. */
    default Map<String, String> settings() {
        return Map.of();
    }

    /** What an operator should know of how Alluxio is set up, a line for each; asks the master each time. */
    default List<String> advice() throws StoreException {
        return List.of();
    }

    /** The user in Alluxio who owns what this store makes. */
    String user();

    /**
     * The volume that uses it ends. From now on calls fail when Alluxio has answered none for a minute (five while it stores a file): those
     * in flight, on whichever thread, and all that begin later. Never waits.
     */
    default void shuttingDown() {}

    @Override
    void close();
}
