package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Creates, renames and replaces files on a mount, one call after the other, until stopped, and records what was acknowledged: the names
 * that must be there, and their bytes. One file, the wanderer, is renamed again and again, so that its file id stays.
 */
public final class AcknowledgedFiles implements AutoCloseable {
    private static final String PREFIX = "ack-";
    private static final String WANDERER = PREFIX + "wanderer-";
    private static final String REPLACED = PREFIX + "replaced";
    private static final int FILE_BYTES = 20_000;

    private final Path mount;
    private final boolean renames;
    private final Thread thread = new Thread(this::run, "acknowledged-files");
    /** Numbers of contents by names. Of the thread while it runs. */
    private final Map<String, Integer> acknowledged = new TreeMap<>();

    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final AtomicInteger changes = new AtomicInteger();
    private final AtomicLong longestNanos = new AtomicLong();
    private volatile String wanderer = WANDERER + 0;
    private volatile boolean stopped;

    /**
     * Creates the wanderer.
     *
     * @param renames false: files are created only
     */
    public AcknowledgedFiles(Path mount, boolean renames) throws IOException {
        this.mount = mount;
        this.renames = renames;
        create(wanderer, 0);
    }

    /** Starts working; each failure is recorded, and the work continues. */
    public void start() {
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        for (int number = 1; !stopped; number++) {
            long began = System.nanoTime();
            try {
                change(number);
            } catch (IOException | RuntimeException e) {
                failures.add("change " + number + ": " + e);
            }
            longestNanos.accumulateAndGet(System.nanoTime() - began, Math::max);
            changes.incrementAndGet();
        }
    }

    /** Creates a file. Of every three one stays, one is renamed and one replaces another; the wanderer is renamed each time. */
    private void change(int number) throws IOException {
        String name = PREFIX + "new-" + number;
        create(name, number);
        if (!renames) {
            check(name, Files.readAllBytes(mount.resolve(name)));
            return;
        }
        if (number % 3 == 1) {
            rename(name, PREFIX + "renamed-" + number);
        } else if (number % 3 == 2) {
            rename(name, REPLACED);
        }
        String next = WANDERER + number;
        rename(wanderer, next);
        wanderer = next;
    }

    private void create(String name, int number) throws IOException {
        Files.write(mount.resolve(name), content(number), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        acknowledged.put(name, number);
    }

    private void rename(String from, String to) throws IOException {
        Files.move(mount.resolve(from), mount.resolve(to), StandardCopyOption.ATOMIC_MOVE);
        Integer number = acknowledged.remove(from);
        if (number != null) {
            acknowledged.put(to, number);
        }
        check(to, Files.readAllBytes(mount.resolve(to)));
    }

    private void check(String name, byte[] found) throws IOException {
        Integer number = acknowledged.get(name);
        if (number != null && !Arrays.equals(found, content(number))) {
            throw new IOException(name + " has wrong bytes");
        }
    }

    private static byte[] content(int number) {
        byte[] content = new byte[FILE_BYTES];
        new Random(number).nextBytes(content);
        return content;
    }

    /** The name that the wanderer was given last. */
    public String wanderer() {
        return wanderer;
    }

    public int changes() {
        return changes.get();
    }

    public List<String> failures() {
        return List.copyOf(failures);
    }

    /** The longest time that one change took, of several calls, since this was asked last. */
    public long takeLongestMillis() {
        return longestNanos.getAndSet(0) / 1_000_000;
    }

    /**
     * Ends the work.
     *
     * @param directory the directory of the mount
     * @return what differs, on the mount or in the under file system, from what was acknowledged
     */
    public List<String> stop(TestDirectory directory) throws IOException, InterruptedException {
        stopped = true;
        thread.join(TimeUnit.MINUTES.toMillis(4));
        if (thread.isAlive()) {
            return List.of(thread.getName() + " hangs");
        }
        List<String> differences = new ArrayList<>();
        for (Map.Entry<String, Integer> file : acknowledged.entrySet()) {
            byte[] expected = content(file.getValue());
            Path onMount = mount.resolve(file.getKey());
            if (!Files.exists(onMount) || !Arrays.equals(expected, Files.readAllBytes(onMount))) {
                differences.add(file.getKey() + " on the mount");
            }
            if (!Arrays.equals(expected, directory.stored(file.getKey()))) {
                differences.add(file.getKey() + " in the under file system");
            }
        }
        try (Stream<Path> names = Files.list(mount)) {
            names.map(name -> String.valueOf(name.getFileName()))
                    .filter(name -> name.startsWith(PREFIX) && !acknowledged.containsKey(name))
                    .forEach(name -> differences.add(name + " is still there"));
        }
        return differences;
    }

    @Override
    public void close() {
        stopped = true;
    }
}
