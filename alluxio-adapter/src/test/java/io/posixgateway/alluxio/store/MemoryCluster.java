package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An Alluxio in memory: a master, workers and a UFS, which any number of {@link MemoryStore}s share as clients. Deterministic:
 * time is a {@link ManualClock}, nothing runs by itself. Any thread.
 */
public final class MemoryCluster {
    private static final long WORKER_BYTES = 1 << 30;

    private static final AtomicInteger COUNT = new AtomicInteger();

    private volatile String id = "memory-" + COUNT.incrementAndGet();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition renamed = lock.newCondition();
    private final ManualClock clock;
    private final MemoryUfs ufs;
    private final MemoryMaster master;
    private final List<MemoryWorker> workers = new ArrayList<>();
    private final Map<Moment, Consumer<String>> moments = new EnumMap<>(Moment.class);
    private volatile boolean masterGone;
    private volatile boolean staleWorkerWritesRemove;

    /** One worker of 1 GiB. */
    public MemoryCluster(MemoryUfs.Kind kind) {
        this(kind, 1, WORKER_BYTES, null);
    }

    /**
     * @param workerBytes what each worker holds
     * @param blockFolder where the first worker's blocks are files, which clients on its host read; null: no client is on its host
     */
    public MemoryCluster(MemoryUfs.Kind kind, int workers, long workerBytes, @Nullable Path blockFolder) {
        this(new ManualClock(), kind);
        addWorkers(workers, workerBytes, blockFolder);
    }

    private MemoryCluster(ManualClock clock, MemoryUfs.Kind kind) {
        this(clock, new MemoryUfs(kind, clock));
    }

    private MemoryCluster(ManualClock clock, MemoryUfs ufs) {
        this.clock = clock;
        this.ufs = ufs;
        this.master = new MemoryMaster(ufs, clock, new Moments());
    }

    /** What it is after a format: another one, over the same UFS, which knows nothing yet and counts its ids anew. */
    public MemoryCluster formatted() {
        MemoryCluster next = new MemoryCluster(clock, ufs);
        next.addWorkers(workers.size(), WORKER_BYTES, null);
        return next;
    }

    private void addWorkers(int workers, long workerBytes, @Nullable Path blockFolder) {
        for (int i = 1; i <= workers; i++) {
            Path folder = i == 1 ? blockFolder : null;
            this.workers.add(new MemoryWorker("worker" + i, workerBytes, folder, this::isPersisted));
        }
    }

    /** A client whose files go to workers and to the UFS. */
    public MemoryStore connect() {
        return connect(WriteType.CACHE_THROUGH);
    }

    public MemoryStore connect(WriteType type) {
        return new MemoryStore(this, type);
    }

    /** It is what the other one was before it was restored from a backup, with which it keeps its id. */
    public void isRestored(MemoryCluster before) {
        id = before.id;
    }

    /** What no other cluster has. */
    public String id() {
        return id;
    }

    public ManualClock clock() {
        return clock;
    }

    public MemoryUfs ufs() {
        return ufs;
    }

    /** The first is the one that clients prefer. */
    public List<MemoryWorker> workers() {
        return workers;
    }

    /** The master's clock, by which it notes times, is ahead of its clients' from now on. */
    public void masterIsAhead(Duration time) {
        master.aheadMillis = time.toMillis();
    }

    /** Nobody answers for the master from now on. */
    public void stopMaster() {
        masterGone = true;
    }

    boolean isMasterGone() {
        return masterGone;
    }

    public void startMaster() {
        masterGone = false;
    }

    /** Another master leads from now on, which has what was done, but does not know that it was asked for. */
    public void changeLeader() {
        lock.lock();
        try {
            master.forgetOperations();
        } finally {
            lock.unlock();
        }
    }

    /** What a worker does with a cancelled file when it goes on: it writes it to the UFS (false), or removes what is there. */
    public void staleWorkerWritesRemove(boolean remove) {
        staleWorkerWritesRemove = remove;
    }

    boolean staleWorkerWritesRemove() {
        return staleWorkerWritesRemove;
    }

    /** Does this, once, when a call to the master comes to this moment; other calls can be made meanwhile. Gets the path. */
    public void at(Moment moment, Consumer<String> work) {
        lock.lock();
        try {
            moments.put(moment, work);
        } finally {
            lock.unlock();
        }
    }

    /** Frees the lock while a test, or another call, does what it does. */
    private final class Moments implements MemoryMaster.Moments {
        @Override
        public void reach(Moment moment, String path) {
            Consumer<String> work = moments.remove(moment);
            if (work == null) {
                return;
            }
            int held = lock.getHoldCount();
            for (int i = 0; i < held; i++) {
                lock.unlock();
            }
            try {
                work.accept(path);
            } finally {
                for (int i = 0; i < held; i++) {
                    lock.lock();
                }
            }
        }

        @Override
        public void awaitRenamed(BooleanSupplier waits) {
            while (waits.getAsBoolean()) {
                renamed.awaitUninterruptibly();
            }
        }

        @Override
        public void renamed() {
            renamed.signalAll();
        }
    }

    /** Writes what was written with {@link WriteType#ASYNC_THROUGH} to the UFS, as the job service does after a while. */
    public void persist(String path) throws StoreException {
        lock.lock();
        try {
            MemoryInode inode = master.find(path);
            byte[] content = new byte[(int) inode.lengthBytes];
            int at = 0;
            for (int i = 0; i < inode.blocks.size(); i++) {
                byte[] block = read(inode.blockId(i));
                if (block == null) {
                    throw new StoreException(Errno.EIO, "Nobody has all of " + path, null);
                }
                System.arraycopy(block, 0, content, at, block.length);
                at += block.length;
            }
            ufs.write(path, content, inode.mode);
            master.fingerprint(inode);
        } finally {
            lock.unlock();
        }
    }

    /** Persists this file if the master was asked for that, as the job service does after a while. */
    public void persistScheduled(String path) throws StoreException {
        boolean scheduled = ask(master -> {
            MemoryInode inode = master.find(path);
            return inode.scheduled && !inode.persisted;
        });
        if (scheduled) {
            persist(path);
        }
    }

    /** The master marks as LOST what was in workers only that do not answer now; what is marked stays so. */
    public void detectLostFiles() {
        lock.lock();
        try {
            master.markLost(block -> read(block) != null);
        } finally {
            lock.unlock();
        }
    }

    /** What is asked of the master. */
    interface Question<T> {
        T ask(MemoryMaster master) throws StoreException;
    }

    <T> T ask(Question<T> question) throws StoreException {
        if (masterGone) {
            throw new StoreException(Errno.EIO, "The master does not answer", null);
        }
        lock.lock();
        try {
            return question.ask(master);
        } finally {
            lock.unlock();
        }
    }

    byte @Nullable [] read(long block) {
        for (MemoryWorker worker : workers) {
            byte[] content = worker.read(block);
            if (content != null) {
                return content;
            }
        }
        return null;
    }

    /** Asked by workers, under their own locks: takes none. */
    private boolean isPersisted(long block) {
        MemoryInode inode = master.ofId(MemoryInode.fileId(block));
        return inode == null || (inode.persisted && inode.complete);
    }
}
