package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Readers and writers that work on a mount and check every byte, until stopped. A file's bytes follow from its number, so
 * that anybody can tell what must be there.
 */
public final class Load implements AutoCloseable {
    private static final int FILES = 64;
    private static final int FILE_BYTES = 150_000;
    private static final int PIECE_BYTES = 16_000;
    private static final long PIECE_PAUSE_NANOS = 1_000_000 * Long.getLong("pgw.load.pause", 100);

    private static final AtomicInteger LOADS = new AtomicInteger();

    private final Path mount;
    /** Of this load: its files have names of their own. */
    private final int number = LOADS.incrementAndGet();

    private final List<Thread> threads = new ArrayList<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final AtomicInteger wrong = new AtomicInteger();
    private final AtomicInteger hung = new AtomicInteger();
    private final AtomicLong reads = new AtomicLong();
    private final AtomicLong writes = new AtomicLong();
    private final AtomicLong longestNanos = new AtomicLong();
    private volatile boolean stopped;

    private Load(Path mount) {
        this.mount = mount;
    }

    /** Makes the files that are read, in the folder behind the mount. */
    public static void prepare(TestDirectory directory, String name) throws IOException {
        for (int i = 0; i < FILES; i++) {
            directory.store(name + "/read-" + i, content(i));
        }
    }

    /** Starts working; each failure is noted and the work goes on. */
    public static Load start(Path mount, int readers, int writers) {
        Load load = new Load(mount);
        for (int i = 0; i < readers; i++) {
            Random random = new Random(i);
            load.thread("reader-" + i, () -> load.read(random));
        }
        for (int i = 0; i < writers; i++) {
            int number = i;
            load.thread("writer-" + i, () -> load.write(number));
            load.thread("checkpoints-" + i, () -> load.checkpoint(number));
        }
        return load;
    }

    /** A call succeeded, with other bytes than those that must be there. */
    private static final class WrongBytes extends IOException {
        private static final long serialVersionUID = 1;

        WrongBytes(String text) {
            super(text);
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private void thread(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    while (!stopped) {
                        try {
                            work.run();
                        } catch (WrongBytes e) {
                            wrong.incrementAndGet();
                            failures.add(name + ": " + e);
                        } catch (IOException | RuntimeException e) {
                            failures.add(name + ": " + e);
                        }
                    }
                },
                name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    /** Opens a file, reads a few pieces at any place, closes it. */
    private void read(Random random) throws IOException {
        int number = random.nextInt(FILES);
        byte[] expected = content(number);
        long began = System.nanoTime();
        try (FileChannel file = FileChannel.open(mount.resolve("read-" + number))) {
            for (int i = 0; i < 8; i++) {
                int at = random.nextInt(FILE_BYTES - PIECE_BYTES);
                ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);
                int count = file.read(piece, at);
                if (count != PIECE_BYTES
                        || ByteBuffer.wrap(expected, at, PIECE_BYTES).mismatch(piece.flip()) >= 0) {
                    throw new WrongBytes("read-" + number + " has wrong bytes at " + at + " (" + count + " read)");
                }
                reads.incrementAndGet();
            }
        }
        longestNanos.accumulateAndGet(System.nanoTime() - began, Math::max);
    }

    /** Writes a new file, reads it back, renames it, removes it. */
    private void write(int writer) throws IOException {
        long number = writes.incrementAndGet();
        byte[] content = content(1000 + number);
        Path file = mount.resolve("write-" + this.number + "-" + writer + "-" + number);
        Path renamed = mount.resolve("done-" + this.number + "-" + writer + "-" + number);
        Files.write(file, content, StandardOpenOption.CREATE_NEW);
        check(file, content);
        Files.move(file, renamed);
        check(renamed, content);
        Files.delete(renamed);
        if (Files.exists(renamed)) {
            throw new WrongBytes(renamed + " is there after it was deleted");
        }
    }

    /** Writes a checkpoint piece by piece into a file that stays open for long, and puts it in the place of the last one. */
    private void checkpoint(int writer) throws IOException {
        byte[] content = content(writes.incrementAndGet());
        Path file = mount.resolve("checkpoint-" + writer + ".new");
        Path place = mount.resolve("checkpoint-" + writer);
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (int at = 0; at < FILE_BYTES; at += PIECE_BYTES) {
                channel.write(ByteBuffer.wrap(content, at, Math.min(PIECE_BYTES, FILE_BYTES - at)), at);
                LockSupport.parkNanos(PIECE_PAUSE_NANOS);
            }
            ByteBuffer whole = ByteBuffer.allocate(FILE_BYTES);
            while (whole.hasRemaining() && channel.read(whole, whole.position()) > 0) {
                // There is more.
            }
            if (!Arrays.equals(whole.array(), content)) {
                throw new WrongBytes(file + " has wrong bytes while it is open");
            }
        }
        Files.move(file, place, StandardCopyOption.REPLACE_EXISTING);
        check(place, content);
    }

    private static void check(Path file, byte[] content) throws IOException {
        if (!Arrays.equals(Files.readAllBytes(file), content)) {
            throw new WrongBytes(file + " has wrong bytes");
        }
    }

    private static byte[] content(long number) {
        byte[] content = new byte[FILE_BYTES];
        new Random(number).nextBytes(content);
        return content;
    }

    /** Stops everything; those that do not stop are a failure. */
    public void stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(120));
            if (thread.isAlive()) {
                hung.incrementAndGet();
                failures.add(thread.getName() + " hangs");
            }
        }
    }

    /** How many files are there that the writers of all loads on this mount removed, known after {@link #stop}. */
    public long left() throws IOException {
        try (Stream<Path> names = Files.list(mount)) {
            return names.map(name -> String.valueOf(name.getFileName()))
                    .filter(name -> name.startsWith("write-") || name.startsWith("done-"))
                    .count();
        }
    }

    /** All of them, those with wrong bytes and those that hang among them. */
    public List<String> failures() {
        return List.copyOf(failures);
    }

    /** How often bytes were wrong. */
    public int wrong() {
        return wrong.get();
    }

    /** How many threads did not come back from a call, known after {@link #stop}. */
    public int hung() {
        return hung.get();
    }

    public long reads() {
        return reads.get();
    }

    public long writes() {
        return writes.get();
    }

    /** The longest time that one file took to be opened, read and closed, since this was asked last. */
    public long takeLongestMillis() {
        return longestNanos.getAndSet(0) / 1_000_000;
    }

    @Override
    public void close() {
        stopped = true;
    }
}
