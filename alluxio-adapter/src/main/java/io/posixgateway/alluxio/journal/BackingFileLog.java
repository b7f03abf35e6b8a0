package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the kernel holds for passthrough, so that the next process knows: the nodes that it reads by itself, and the backing
 * ids it was given. Kept in a mapped file, which outlives a killed process without a system call at each open. Guarded by
 * its own monitor.
 */
public final class BackingFileLog implements AutoCloseable {
    private static final int SLOTS = 16_384;
    private static final int BYTES = (SLOTS + 1) * Long.BYTES;

    private LongBuffer slots;
    private final int generation;
    private final Map<Long, Integer> used = new HashMap<>();
    private final Deque<Integer> free = new ArrayDeque<>();
    private volatile Set<Long> inherited;

    private BackingFileLog(LongBuffer slots) {
        this.slots = slots;
        this.generation = (int) (slots.get(SLOTS) & Integer.MAX_VALUE);
        slots.put(SLOTS, generation + 1);
        for (int slot = SLOTS - 1; slot >= 0; slot--) {
            long held = slots.get(slot);
            if (held == 0) {
                free.push(slot);
            } else {
                used.put(held, slot);
            }
        }
        this.inherited = Set.copyOf(used.keySet());
    }

    /** Without room for all of it on the disk, what is there is read, and nothing can be noted. */
    static BackingFileLog open(Path file) throws IOException {
        try {
            StateFolder.makeParentIfMissing(file);
            BackingFileLog log = map(file);
            if (log != null) {
                return log;
            }
        } catch (IOException e) {
            if (!DiskErrno.takesNothing(e)) {
                throw e;
            }
            tell(e);
        }
        return read(file);
    }

    /** Null: there is no room. */
    private static @Nullable BackingFileLog map(Path file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return fill(channel)
                    ? new BackingFileLog(channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES)
                            .asLongBuffer())
                    : null;
        }
    }

    private static BackingFileLog read(Path file) throws IOException {
        ByteBuffer copy = ByteBuffer.allocate(BYTES);
        if (Files.exists(file)) {
            byte[] there = Files.readAllBytes(file);
            copy.put(there, 0, Math.min(there.length, BYTES));
        }
        BackingFileLog log = new BackingFileLog(copy.rewind().asLongBuffer());
        log.free.clear();
        return log;
    }

    private static void tell(IOException failure) {
        org.slf4j.LoggerFactory.getLogger(BackingFileLog.class)
                .warn(
                        "Passthrough is off, because the files that the kernel reads cannot be recorded: {}",
                        failure.toString());
    }

    /** A store into a mapped hole would find out that the disk is full, and end the process: there are none afterwards. */
    private static boolean fill(FileChannel channel) {
        try {
            ByteBuffer bytes = ByteBuffer.allocate(BYTES);
            for (int count = 0; bytes.hasRemaining() && count >= 0; ) {
                count = channel.read(bytes, bytes.position());
            }
            bytes.rewind();
            while (bytes.hasRemaining()) {
                channel.write(bytes, bytes.position());
            }
            return true;
        } catch (IOException e) {
            tell(e);
            return false;
        }
    }

    /** The kernel is a new one, which holds nothing. */
    public synchronized void clear() {
        List.copyOf(used.keySet()).forEach(this::remove);
        inherited = Set.of();
    }

    /** How many processes had this log before. */
    public int generation() {
        return generation;
    }

    /** There was one generation of nodes more: the next process counts on from there. */
    synchronized void generationIs(int now) {
        slots.put(SLOTS, now + 1);
    }

    /** What an earlier process left: nodes are positive, backing ids negative. */
    public Set<Long> inherited() {
        return inherited;
    }

    /** The kernel holds this node, or minus this backing id, from now on; false: no room to note it. */
    public synchronized boolean add(long held) {
        if (used.containsKey(held)) {
            return true;
        }
        Integer slot = free.poll();
        if (slot == null) {
            return false;
        }
        slots.put(slot, held);
        used.put(held, slot);
        return true;
    }

    /** Nothing is noted from now on: the file is the next process's. Its mapping goes with the buffer. */
    @Override
    public synchronized void close() {
        slots = LongBuffer.allocate(SLOTS + 1);
        used.clear();
        free.clear();
    }

    /** It does no more. */
    public synchronized void remove(long held) {
        Integer slot = used.remove(held);
        if (slot != null) {
            slots.put(slot, 0);
            free.push(slot);
        }
    }
}
