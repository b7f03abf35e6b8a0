package io.posixgateway.alluxio.store;

import io.posixgateway.alluxio.client.StoreParts;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** One client of a {@link MemoryCluster}, with faults and counts of its own. Any thread. */
public final class MemoryStore implements Store {
    private static final int MAX_CALLS = 500;
    /** Trailers may have 8192 bytes, and have some beside the text. */
    private static final int MAX_TRAILER_BYTES = 8003;

    private volatile MemoryCluster cluster;
    private final WriteType type;
    private final StoreFaults faults;
    /** Workers that did not answer, and have not since. */
    private final Set<MemoryWorker> suspects = ConcurrentHashMap.newKeySet();

    private final Map<String, LoadState> loads = new ConcurrentHashMap<>();
    private final AtomicLong ufsBytes = new AtomicLong();
    private volatile boolean persistsRenames;
    private volatile boolean repeats;
    private volatile boolean syncsCopies;
    private volatile boolean copies = true;
    private volatile boolean refusesOwners;
    private volatile String nested = "/";
    private volatile Runnable masterAbsent = () -> {};

    MemoryStore(MemoryCluster cluster, WriteType type) {
        this.cluster = cluster;
        this.type = type;
        this.faults = new StoreFaults(cluster.clock());
        this.persistsRenames = cluster.ufs().kind() != MemoryUfs.Kind.LOCAL || !type.persists();
    }

    /** Renames as a client that does not ask the master to persist what it renames. */
    public MemoryStore withoutPersistOnRename() {
        persistsRenames = false;
        return this;
    }

    /** As a user of Alluxio that may not give files to others. */
    public MemoryStore refusingOwners() {
        refusesOwners = true;
        return this;
    }

    /** Sends what replaces a file again by itself where nobody answers, as Alluxio's own client does. */
    public MemoryStore repeatingReplacements() {
        repeats = true;
        return this;
    }

    /** Takes directories to be renamed in one step, though no rename replaces a file, as in HDFS. */
    public MemoryStore renamingDirectoriesAtOnce() {
        copies = false;
        return this;
    }

    /** Takes what is below this directory to be in another under file system. */
    public MemoryStore mountedBelow(String directory) {
        nested = directory + "/";
        return this;
    }

    public MemoryCluster memory() {
        return cluster;
    }

    /** What its calls meet, and how many there were. */
    public StoreFaults faults() {
        return faults;
    }

    WriteType type() {
        return type;
    }

    /** Has what it renames compared with the UFS at once, and keeps the attributes, as a client does that syncs metadata. */
    public MemoryStore syncingCopies() {
        syncsCopies = true;
        return this;
    }

    private <T> T ask(StoreCall call, String path, MemoryCluster.Question<T> question) throws StoreException {
        try {
            return faults.call(call, path, () -> {
                if (cluster.isMasterGone()) {
                    masterAbsent.run();
                }
                return cluster.ask(question);
            });
        } catch (StoreException e) {
            throw isSent(e) ? e : new StoreException(Errno.EIO, "RST_STREAM closed stream. PROTOCOL_ERROR", e);
        }
    }

    /** Do the trailers of a reply take the text of an error? */
    private static boolean isSent(StoreException error) {
        int bytes = 0;
        for (byte b : String.valueOf(error.getMessage()).getBytes(StandardCharsets.UTF_8)) {
            bytes += b < ' ' || b >= '~' || b == '%' ? 3 : 1;
        }
        return bytes <= MAX_TRAILER_BYTES;
    }

    @Override
    public void onMasterAbsent(Runnable listener) {
        masterAbsent = listener;
    }

    /** From now on this one answers, where the other did: it was formatted. */
    public void answeredBy(MemoryCluster other) {
        cluster = other;
    }

    /** What changes something. */
    private interface Step {
        void at(MemoryMaster master) throws StoreException;
    }

    private void tell(StoreCall call, String path, Step change) throws StoreException {
        ask(call, path, master -> {
            change.at(master);
            return call;
        });
    }

    /** EINVAL for paths that Alluxio would read as others, as {@link io.posixgateway.alluxio.client.AlluxioStore} has it. */
    private static void checkName(String path) throws StoreException {
        if (!NameCodec.isAddressable(path)) {
            throw new StoreException(Errno.EINVAL, "Alluxio cannot hold this name: " + path, null);
        }
    }

    @Override
    public String clusterId() throws StoreException {
        return ask(StoreCall.CLUSTER_ID, "", master -> cluster.id());
    }

    @Override
    public FileStatus status(String path) throws StoreException {
        checkName(path);
        return ask(StoreCall.STATUS, path, master -> master.find(path).status());
    }

    @Override
    public int longestPath(String directory) throws StoreException {
        checkName(directory);
        String ufsPath = ask(
                StoreCall.STATUS, directory, master -> master.find(directory).path());
        String root =
                switch (cluster.ufs().kind()) {
                    case LOCAL -> MemoryUfs.ROOT;
                    case OBJECT_STORE -> "s3://bucket";
                    case HDFS -> "hdfs://name:9000";
                };
        return type == WriteType.MUST_CACHE ? PathLimit.NONE : PathLimit.ofUfs(directory, root + ufsPath);
    }

    @Override
    public void connect() throws StoreException {
        ask(StoreCall.CONNECT, "", master -> type);
    }

    @Override
    public String pathOf(long fileId) throws StoreException {
        return ask(StoreCall.PATH_OF, Long.toString(fileId), master -> master.pathOf(fileId));
    }

    @Override
    public Page list(String path, String startAfter, int most) throws StoreException {
        checkName(path);
        return ask(StoreCall.LIST, path, master -> master.list(path, startAfter, most));
    }

    @Override
    public Page listCompared(String path, int most) throws StoreException {
        checkName(path);
        return ask(StoreCall.LIST_COMPARED, path, master -> master.listCompared(path, most));
    }

    @Override
    public FileStatus compared(String path) throws StoreException {
        checkName(path);
        return ask(StoreCall.COMPARED, path, master -> master.compared(path).status());
    }

    @Override
    public StoreWriter create(String path, int mode, Map<String, byte[]> xattrs, UUID number) throws StoreException {
        checkName(path);
        MemoryMaster.Creation creation = new MemoryMaster.Creation(path, mode, xattrs, number, type);
        Made made = ask(StoreCall.CREATE, path, master -> {
            MemoryInode inode = master.create(creation);
            return new Made(inode.id, inode.modifiedMillis);
        });
        return new MemoryWriter(this, path, made, mode);
    }

    @Override
    public @Nullable StoreWriter overwrite(String path, long fileId) throws StoreException {
        checkName(path);
        if (!type.persists() || !copiesOnRename(path)) {
            return null;
        }
        boolean may = ask(StoreCall.OVERWRITE, path, master -> !refusesOwners && master.isPersistedFile(path, fileId));
        return may ? new MemoryOverwriter(this, path, fileId) : null;
    }

    /** What the master answers of a file that it made. */
    record Made(long fileId, long millis) {}

    @Override
    public void makeDirectory(String path, int mode, Map<String, byte[]> xattrs) throws StoreException {
        checkName(path);
        MemoryMaster.Creation creation = new MemoryMaster.Creation(path, mode, xattrs, UUID.randomUUID(), type);
        tell(StoreCall.MAKE_DIRECTORY, path, master -> master.makeDirectory(creation));
    }

    @Override
    public void delete(String path) throws StoreException {
        checkName(path);
        tell(StoreCall.DELETE, path, master -> master.delete(path, false));
    }

    @Override
    public void forget(String path) throws StoreException {
        checkName(path);
        tell(StoreCall.DELETE, path, master -> master.delete(path, true));
    }

    @Override
    public void rename(String from, String to, boolean overFile) throws StoreException {
        checkName(from);
        checkName(to);
        if (crossesMounts(from, to)) {
            throw new StoreException(Errno.EXDEV, "Renaming " + from + " is a cross mount operation", null);
        }
        boolean deletes = overFile && deletesToReplace(to);
        if (overFile) {
            checkIsNoDirectory(to);
        }
        UUID number = UUID.randomUUID();
        try {
            send(from, to, overFile, number);
        } catch (StoreException e) {
            if (deletes && repeats && e.isUnanswered()) {
                send(from, to, true, number);
                return;
            }
            throw deletes || !e.isUnanswered() ? e : new StoreException(Errno.EIO, String.valueOf(e.getMessage()), e);
        }
    }

    private void checkIsNoDirectory(String path) throws StoreException {
        boolean directory = ask(StoreCall.STATUS, path, master -> master.isDirectory(path));
        if (directory) {
            throw new StoreException(Errno.EISDIR, path + " is a directory", null);
        }
    }

    private void send(String from, String to, boolean overFile, UUID number) throws StoreException {
        AtomicInteger sent = new AtomicInteger();
        tell(StoreCall.RENAME, from, master -> {
            boolean repeated = sent.getAndIncrement() > 0;
            MemoryInode before = syncsCopies ? master.find(from) : null;
            boolean persists = persistsRenames && (type != WriteType.MUST_CACHE || master.isPersisted(to));
            master.rename(new MemoryMaster.Renaming(from, to, overFile, persists, faults.reach(), number));
            if (before != null) {
                master.compared(to).takeAttributes(before);
            }
            if (repeated) {
                throw new StoreException(Errno.EIO, from + " may not be " + to + ", though that is said", null);
            }
        });
    }

    @Override
    public boolean copiesOnRename(String path) {
        return copies && cluster.ufs().kind() == MemoryUfs.Kind.OBJECT_STORE;
    }

    @Override
    public boolean crossesMounts(String from, String to) {
        return from.startsWith(nested) != to.startsWith(nested);
    }

    @Override
    public boolean deletesToReplace(String path) {
        return cluster.ufs().kind() != MemoryUfs.Kind.LOCAL || !type.persists();
    }

    @Override
    public void change(String path, Change change) throws StoreException {
        checkName(path);
        tell(StoreCall.CHANGE, path, master -> master.change(path, change));
    }

    @Override
    public void removeXattr(String path, String name) throws StoreException {
        checkName(path);
        tell(StoreCall.REMOVE_XATTR, path, master -> master.removeXattr(path, name));
    }

    @Override
    public StoreReader open(String path, long fileId) throws StoreException {
        return new MemoryReader(this, ask(StoreCall.OPEN, path, master -> opened(master, path, fileId)), false);
    }

    @Override
    public StoreReader openToKeep(String path, long fileId) throws StoreException {
        return new MemoryReader(this, ask(StoreCall.OPEN, path, master -> opened(master, path, fileId)), true);
    }

    /** The file at its path, or wherever it is by now. */
    private static MemoryReader.Opened opened(MemoryMaster master, String path, long fileId) throws StoreException {
        MemoryInode inode;
        try {
            inode = master.find(path);
        } catch (StoreException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
            inode = null;
        }
        MemoryInode found = inode != null && inode.id == fileId ? inode : master.ofId(fileId);
        if (found == null) {
            throw new StoreException(Errno.ESTALE, "The open file is no longer at " + path, null);
        }
        return MemoryReader.Opened.of(found);
    }

    @Override
    public @Nullable Path localBlockFolder(String path) throws StoreException {
        FileDetails details = detailsBy(StoreCall.LOCAL_BLOCK_FOLDER, path);
        for (FileDetails.Block block : details.blocks()) {
            Path folder = folderOf(block.id());
            if (folder != null) {
                return folder;
            }
        }
        return null;
    }

    @Override
    public @Nullable Path localBlockFolder(long blockId) throws StoreException {
        faults.call(StoreCall.LOCAL_BLOCK_FOLDER, Long.toString(blockId), () -> blockId);
        return folderOf(blockId);
    }

    private @Nullable Path folderOf(long blockId) {
        return cluster.workers().stream()
                .filter(worker -> worker.isRunning() && worker.has(blockId))
                .map(MemoryWorker::folder)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    @Override
    public int use(List<Long> blocks) throws StoreException {
        return faults.call(StoreCall.USE, "", () ->
                (int) blocks.stream().filter(block -> folderOf(block) != null).count());
    }

    @Override
    public Capacity capacity() throws StoreException {
        return ask(StoreCall.CAPACITY, "", master -> {
            List<MemoryWorker> known = cluster.workers().stream()
                    .filter(worker -> !worker.isKilled())
                    .toList();
            return new Capacity(
                    known.stream().mapToLong(MemoryWorker::capacityBytes).sum(),
                    known.stream().mapToLong(MemoryWorker::usedBytes).sum());
        });
    }

    @Override
    public boolean persists() {
        return type.persists();
    }

    @Override
    public String cluster() {
        return "memory";
    }

    @Override
    public FileDetails details(String path) throws StoreException {
        return detailsBy(StoreCall.DETAILS, path);
    }

    private FileDetails detailsBy(StoreCall call, String path) throws StoreException {
        checkName(path);
        return ask(call, path, master -> {
            MemoryInode inode = master.find(path);
            List<FileDetails.Block> blocks = new ArrayList<>();
            long cachedBytes = 0;
            for (int i = 0; i < inode.blocks.size(); i++) {
                List<FileDetails.Place> places = placesOf(inode.blockId(i));
                cachedBytes += places.isEmpty() ? 0 : inode.blocks.get(i);
                blocks.add(new FileDetails.Block(inode.blockId(i), inode.blocks.get(i), places));
            }
            long percent = inode.directory ? 0 : inode.lengthBytes == 0 ? 100 : cachedBytes * 100 / inode.lengthBytes;
            String tag = inode.persisted ? inode.fingerprint : "";
            return new FileDetails(inode.status(), inode.path(), (int) percent, blocks, tag);
        });
    }

    private List<FileDetails.Place> placesOf(long block) {
        return cluster.workers().stream()
                .filter(worker -> !worker.isKilled() && worker.has(block))
                .map(worker -> new FileDetails.Place(worker.host(), "MEM", worker.folder() != null))
                .toList();
    }

    /** Done at once. */
    @Override
    public boolean load(String path) throws StoreException {
        checkName(path);
        FileStatus status = status(path);
        faults.call(StoreCall.LOAD, path, () -> status);
        if (!status.directory()) {
            new MemoryReader(this, ask(StoreCall.LOAD, path, master -> opened(master, path, status.id())), true)
                    .fetch();
        }
        loads.put(path, new LoadState(true, status.lengthBytes(), status.lengthBytes(), 0, ""));
        return true;
    }

    @Override
    public LoadState loadState(String path) throws StoreException {
        LoadState state = loads.get(path);
        if (state == null) {
            throw new StoreException(Errno.ENOENT, "There was no load of " + path, null);
        }
        return state;
    }

    @Override
    public void stopLoad(String path) throws StoreException {
        faults.call(StoreCall.LOAD, path, () -> path);
    }

    @Override
    public int mostCalls() {
        return MAX_CALLS;
    }

    @Override
    public long ufsBytes() {
        return ufsBytes.get();
    }

    @Override
    public String user() {
        return MemoryUfs.USER;
    }

    @Override
    public void close() {}

    /** The worker that a file is written through: the first that is not suspected; else the first. */
    MemoryWorker workerToWrite(String path) throws StoreException {
        suspects.removeIf(MemoryWorker::isRunning);
        List<MemoryWorker> known =
                cluster.workers().stream().filter(worker -> !worker.isKilled()).toList();
        return known.stream()
                .filter(worker -> !suspects.contains(worker))
                .findFirst()
                .or(() -> known.stream().findFirst())
                .orElseThrow(() -> StoreParts.unanswered("No worker is available to write " + path));
    }

    void suspect(MemoryWorker worker) {
        suspects.add(worker);
    }

    void countUfs(long bytes) {
        ufsBytes.addAndGet(bytes);
    }
}
