package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Programs that each keep one file open, however often the gateway changes, and write, cut, read and sync it all the while. What a
 * call acknowledged must be read back by the same program, what an fsync acknowledged must be in the under file system then, and
 * what the close did must be there at the end.
 */
public final class OpenWriters implements AutoCloseable {
    private static final int MAX_BYTES = 400_000;
    private static final int MAX_PIECE_BYTES = 20_000;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int FILES_PER_KIND = 2;

    private final TestDirectory directory;
    private final String name;
    private final Path mount;
    private final List<Thread> threads = new ArrayList<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final AtomicLong calls = new AtomicLong();
    private final AtomicLong syncs = new AtomicLong();
    private final AtomicLong syncedBytes = new AtomicLong();
    private volatile boolean stopped;

    private OpenWriters(TestDirectory directory, String name, Path mount) {
        this.directory = directory;
        this.name = name;
        this.mount = mount;
    }

    /** Opens files of this directory, by this mount of it: new ones, and some that are there. */
    public static OpenWriters start(TestDirectory directory, String name, Path mount) throws IOException {
        OpenWriters writers = new OpenWriters(directory, name, mount);
        for (int i = 0; i < FILES_PER_KIND; i++) {
            byte[] old = new byte[MAX_BYTES / 2];
            new Random(i).nextBytes(old);
            directory.store(name + "/held-old-" + i, old);
            writers.start("held-old-" + i, old, i);
            writers.start("held-new-" + i, new byte[0], FILES_PER_KIND + i);
        }
        return writers;
    }

    private void start(String file, byte[] content, int seed) throws IOException {
        FileChannel channel = FileChannel.open(
                mount.resolve(file), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Thread thread = new Thread(() -> work(file, channel, new Model(content), new Random(seed)), file);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    /** What the file must hold. One thread. */
    private static final class Model {
        private byte[] bytes;

        Model(byte[] bytes) {
            this.bytes = bytes;
        }

        void put(int at, byte[] piece) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length, at + piece.length));
            System.arraycopy(piece, 0, bytes, at, piece.length);
        }

        void cut(int length) {
            bytes = Arrays.copyOf(bytes, length);
        }
    }

    private void work(String file, FileChannel channel, Model model, Random random) {
        try (channel) {
            while (!stopped) {
                step(file, channel, model, random);
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        } catch (IOException | RuntimeException | AssertionError e) {
            failures.add(file + ": " + e);
            return;
        }
        try {
            check(file + " after its close", Files.readAllBytes(mount.resolve(file)), model.bytes);
            check(file + " after its close, in the under file system", stored(file), model.bytes);
        } catch (IOException | RuntimeException | AssertionError e) {
            failures.add(file + ": " + e);
        }
    }

    private void step(String file, FileChannel channel, Model model, Random random) throws IOException {
        int length = model.bytes.length;
        switch (random.nextInt(10)) {
            case 0 -> {
                channel.force(true);
                check(file + " after fsync, in the under file system", stored(file), model.bytes);
                syncs.incrementAndGet();
                syncedBytes.addAndGet(length);
            }
            case 1 -> {
                int shorter = random.nextInt(length + 1);
                channel.truncate(shorter);
                model.cut(shorter);
            }
            case 2, 3 -> check(file + " while it is open", read(channel, length), model.bytes);
            default -> {
                byte[] piece = new byte[1 + random.nextInt(MAX_PIECE_BYTES)];
                random.nextBytes(piece);
                int at = Math.min(random.nextInt(length + 1), MAX_BYTES - piece.length);
                if (channel.write(ByteBuffer.wrap(piece), at) != piece.length) {
                    throw new IOException("not all was written");
                }
                model.put(at, piece);
            }
        }
        calls.incrementAndGet();
    }

    private byte[] stored(String file) throws IOException {
        return Objects.requireNonNullElse(directory.stored(name + "/" + file), new byte[0]);
    }

    private static byte[] read(FileChannel channel, int length) throws IOException {
        ByteBuffer whole = ByteBuffer.allocate(length + 1);
        while (whole.hasRemaining() && channel.read(whole, whole.position()) > 0) {
            // There is more.
        }
        return Arrays.copyOf(whole.array(), whole.position());
    }

    private static void check(String what, byte[] actual, byte[] expected) {
        int at = Arrays.mismatch(actual, expected);
        if (at >= 0) {
            throw new AssertionError(what + " has " + actual.length + " bytes, of " + expected.length
                    + " that were acknowledged; they differ from byte " + at + " on");
        }
    }

    /** Ends them all: each closes its file, and looks at what is there. Who does not end is a failure. */
    public void stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(120));
            if (thread.isAlive()) {
                failures.add(thread.getName() + " hangs");
            }
        }
    }

    /** A call that failed, bytes that are lost or wrong, who hangs. */
    public List<String> failures() {
        return List.copyOf(failures);
    }

    /** Calls that were made. */
    public long calls() {
        return calls.get();
    }

    public long syncs() {
        return syncs.get();
    }

    /** Lengths of the files at all their fsyncs, together. */
    public long syncedBytes() {
        return syncedBytes.get();
    }

    @Override
    public void close() {
        stopped = true;
    }
}
