package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A worker of a {@link MemoryCluster}: holds blocks, and writes files to the UFS for clients. Any thread.
 *
 * <p>One that is stopped answers nobody, and takes up again what it was sent when it goes on, though nobody waits for it any more.
 */
public final class MemoryWorker {
    private enum State {
        RUNNING,
        STOPPED,
        KILLED
    }

    private final String host;
    private final long capacityBytes;
    private final @Nullable Path folder;
    private final LongPredicate evictable;
    private final Map<Long, byte[]> blocks = new LinkedHashMap<>();
    private final List<Runnable> late = new ArrayList<>();
    private State state = State.RUNNING;
    private long usedBytes;

    /**
     * @param folder where each block is a file, too, as clients on the host of the worker read them; null: nowhere
     * @param evictable true for a block that is in the UFS as well
     */
    MemoryWorker(String host, long capacityBytes, @Nullable Path folder, LongPredicate evictable) {
        this.host = host;
        this.capacityBytes = capacityBytes;
        this.folder = folder;
        this.evictable = evictable;
    }

    public String host() {
        return host;
    }

    /** Stops to answer, as a process that is stopped by SIGSTOP. */
    public synchronized void stop() {
        state = State.STOPPED;
    }

    /** It and its blocks are gone; {@link #resume} starts a fresh one. */
    public synchronized void kill() {
        state = State.KILLED;
        late.clear();
        List.copyOf(blocks.keySet()).forEach(this::remove);
    }

    /** Goes on, and does first what it had been sent before it stopped. */
    public void resume() {
        List<Runnable> sent;
        synchronized (this) {
            state = State.RUNNING;
            sent = List.copyOf(late);
            late.clear();
        }
        sent.forEach(Runnable::run);
    }

    /** What it has been sent and will do when it goes on. */
    synchronized void whenItGoesOn(Runnable work) {
        late.add(work);
    }

    synchronized boolean isRunning() {
        return state == State.RUNNING;
    }

    synchronized boolean isKilled() {
        return state == State.KILLED;
    }

    synchronized boolean has(long block) {
        return blocks.containsKey(block);
    }

    /** Null: it does not have the block, or does not answer. */
    synchronized byte @Nullable [] read(long block) {
        return isRunning() ? blocks.get(block) : null;
    }

    synchronized long usedBytes() {
        return usedBytes;
    }

    long capacityBytes() {
        return capacityBytes;
    }

    @Nullable
    Path folder() {
        return folder;
    }

    /** @throws StoreException ENOSPC: no room can be made, since what fills it is in workers alone */
    synchronized void put(long block, byte[] content) throws StoreException {
        if (usedBytes + content.length > capacityBytes) {
            makeRoom(content.length);
        }
        if (usedBytes + content.length > capacityBytes) {
            throw new StoreException(Errno.ENOSPC, "Not enough space left on worker " + host, null);
        }
        byte[] before = blocks.put(block, content);
        usedBytes += content.length - (before == null ? 0 : before.length);
        try {
            if (folder != null) {
                Files.write(folder.resolve(Long.toString(block)), content);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void makeRoom(long bytes) {
        for (long old : List.copyOf(blocks.keySet())) {
            if (usedBytes + bytes > capacityBytes && evictable.test(old)) {
                remove(old);
            }
        }
    }

    /** Drops a block, as an eviction does. */
    public synchronized void remove(long block) {
        byte[] content = blocks.remove(block);
        usedBytes -= content == null ? 0 : content.length;
        try {
            if (folder != null) {
                Files.deleteIfExists(folder.resolve(Long.toString(block)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Drops what is in the UFS as well. */
    public synchronized void evictAll() {
        List.copyOf(blocks.keySet()).stream().filter(evictable::test).forEach(this::remove);
    }
}
