package io.posixgateway.alluxio.bench;

import io.posixgateway.alluxio.client.AlluxioStore;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.time.Clock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs an Alluxio for the benchmark, and fills it, until standard input ends. Says {@code READY masters ufs-folder}, then
 * answers each line of input by {@code OK number} or {@code FAILED why}:
 *
 * <ul>
 *   <li>{@code put FOLDER PATH BLOCK_BYTES [WRITE_TYPE]}: writes the files of a folder, without a type into the workers only
 *   <li>{@code list PATH}: lists, so that the master knows what is in the under file system
 *   <li>{@code warm PATH SECONDS}: makes, reads and deletes files there, so that the servers' code is compiled before
 *       anything is measured: else whoever is measured first would meet cold servers
 * </ul>
 */
public final class AlluxioHost {
    private static final int WRITERS = 8;
    private static final int FIRST_PROPERTY = 5;
    private static final int WARM_BYTES = 19_000;
    private static final String WORKERS_ONLY = "MUST_CACHE";
    private static final PrintStream OUT = System.out;

    private final String masters;

    private AlluxioHost(String masters) {
        this.masters = masters;
    }

    /** Arguments: folder of the blocks, number of workers, bytes of each, megabytes of heap of each server, under store; name=value of servers. */
    public static void main(String[] arguments) throws IOException {
        Path blocks = Path.of(arguments[0]);
        EmbeddedOptions options = EmbeddedOptions.defaults()
                .withWorkers(Integer.parseInt(arguments[1]), Long.parseLong(arguments[2]))
                .withBlockStore(blocks)
                .on(EmbeddedOptions.UnderStore.valueOf(arguments[4]))
                .withProperties(properties(arguments))
                .withJvmOptions(List.of("-Xmx" + arguments[3] + "m", "-XX:TieredStopAtLevel=4"));
        try (EmbeddedAlluxio alluxio = EmbeddedAlluxio.start(options)) {
            OUT.println("READY " + alluxio.masters() + " " + alluxio.ufs());
            new AlluxioHost(alluxio.masters()).serve();
        }
    }

    private static Map<String, String> properties(String[] arguments) {
        return Stream.of(arguments)
                .skip(FIRST_PROPERTY)
                .map(word -> word.split("=", 2))
                .collect(Collectors.toMap(words -> words[0], words -> words[1]));
    }

    private void serve() throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ", -1);
            try {
                OUT.println("OK " + answer(words));
            } catch (IOException | StoreException | ExecutionException | InterruptedException e) {
                OUT.println("FAILED " + e);
            }
        }
    }

    private long answer(String[] words) throws IOException, StoreException, ExecutionException, InterruptedException {
        return switch (words[0]) {
            case "put" -> put(Path.of(words[1]), words[2], words[3], words.length > 4 ? words[4] : WORKERS_ONLY);
            case "warm" -> warm(words[1], Long.parseLong(words[2]));
            default -> list(words[1]);
        };
    }

    private long warm(String path, long seconds) throws StoreException, ExecutionException, InterruptedException {
        long until = System.nanoTime() + seconds * 1_000_000_000L;
        ExecutorService users = Executors.newFixedThreadPool(WRITERS);
        try (Store store =
                AlluxioStore.open(new StoreOptions(masters, "", WORKERS_ONLY, false, Map.of()), Clock.system())) {
            store.makeDirectory(path, 0755, Map.of());
            List<Future<Long>> all = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                String file = path + "/" + i;
                all.add(users.submit(() -> {
                    long count = 0;
                    while (System.nanoTime() < until) {
                        makeAndRead(store, file);
                        count++;
                    }
                    return count;
                }));
            }
            long count = 0;
            for (Future<Long> each : all) {
                count += each.get();
            }
            store.delete(path);
            return count;
        } finally {
            users.shutdownNow();
        }
    }

    private static void makeAndRead(Store store, String path) throws StoreException {
        StoreWriter sink = store.create(path, 0644, Map.of(), UUID.randomUUID());
        byte[] content = new byte[WARM_BYTES];
        sink.write(content, 0, content.length);
        sink.complete();
        try (StoreReader source = store.open(path, sink.fileId())) {
            source.read(0, ByteBuffer.allocate(WARM_BYTES));
        }
        store.list(path.substring(0, path.lastIndexOf('/')), "", 1000);
        store.delete(path);
    }

    private Store open(String blockBytes, String writeType) throws StoreException {
        Map<String, String> properties = Map.of(
                "alluxio.user.block.size.bytes.default",
                blockBytes,
                "alluxio.user.local.writer.chunk.size.bytes",
                "1MB",
                "alluxio.user.block.write.location.policy.class",
                "alluxio.client.block.policy.RoundRobinPolicy");
        return AlluxioStore.open(new StoreOptions(masters, "", writeType, true, properties), Clock.system());
    }

    private long put(Path folder, String path, String blockBytes, String writeType)
            throws IOException, StoreException, ExecutionException, InterruptedException {
        List<Path> files;
        try (Stream<Path> entries = Files.list(folder)) {
            files = entries.filter(Files::isRegularFile).toList();
        }
        ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
        try (Store store = open(blockBytes, writeType)) {
            store.makeDirectory(path, 0755, Map.of());
            List<Future<?>> all = new ArrayList<>();
            for (Path file : files) {
                all.add(writers.submit(() -> {
                    copy(store, file, path + "/" + file.getFileName());
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
            return files.size();
        } finally {
            writers.shutdownNow();
        }
    }

    private static void copy(Store store, Path from, String to) throws IOException, StoreException {
        StoreWriter sink = store.create(to, 0644, Map.of(), UUID.randomUUID());
        byte[] buffer = new byte[1 << 20];
        try (InputStream in = Files.newInputStream(from)) {
            for (int got = in.read(buffer); got > 0; got = in.read(buffer)) {
                sink.write(buffer, 0, got);
            }
        }
        sink.complete();
    }

    private long list(String path) throws StoreException {
        try (Store store = open("16MB", WORKERS_ONLY)) {
            long count = 0;
            String last = "";
            while (true) {
                Store.Page page = store.list(path, last, 1000);
                count += page.entries().size();
                if (!page.more()) {
                    return count;
                }
                last = page.entries().get(page.entries().size() - 1).name();
            }
        }
    }
}
