package io.posixgateway.alluxio.bench;

import io.posixgateway.alluxio.client.AlluxioStore;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * How many calls a second a master answers, and what CPU time of its own it spends on one. Arguments: "host:port" of the
 * master, its process, a file there, a folder there of at least a thousand files, seconds of each load. Prints one JSON array.
 */
public final class MasterCalls {
    private static final int[] CALLERS = {1, 8, 32};
    private static final int NAMES_A_LISTING = 1000;
    private static final double TICK_SECONDS = 0.01; // USER_HZ, the same on every Linux

    private final Store store;
    private final Path masterStat;
    private final long nanos;

    private MasterCalls(Store store, String masterPid, double seconds) {
        this.store = store;
        this.masterStat = Path.of("/proc", masterPid, "stat");
        this.nanos = (long) (seconds * 1e9);
    }

    private interface Call {
        void make() throws StoreException;
    }

    /** Runs all. */
    public static void main(String[] arguments) throws Exception {
        String most = Integer.toString(CALLERS[CALLERS.length - 1]);
        Map<String, String> properties = Map.of("alluxio.user.file.master.client.pool.size.max", most);
        StoreOptions options = new StoreOptions(arguments[0], "", "MUST_CACHE", true, properties);
        try (Store store = AlluxioStore.open(options, Clock.system())) {
            MasterCalls calls = new MasterCalls(store, arguments[1], Double.parseDouble(arguments[4]));
            StringJoiner all = new StringJoiner(", ", "[", "]");
            calls.measure("attributes of a file", () -> store.status(arguments[2]), all);
            calls.measure("a listing of 1,000 names", () -> calls.list(arguments[3]), all);
            System.out.println(all);
        }
    }

    private void list(String folder) throws StoreException {
        int seen = store.list(folder, "", NAMES_A_LISTING).entries().size();
        if (seen != NAMES_A_LISTING) {
            throw new IllegalStateException("%s has only %d names".formatted(folder, seen));
        }
    }

    private void measure(String what, Call call, StringJoiner into)
            throws IOException, ExecutionException, InterruptedException {
        makeCalls(call, CALLERS[CALLERS.length - 1]);
        for (int callers : CALLERS) {
            double used = masterSeconds();
            long began = System.nanoTime();
            long count = makeCalls(call, callers);
            double seconds = (System.nanoTime() - began) / 1e9;
            into.add("{\"what\": \"%s\", \"callers\": %d, \"per_s\": %.1f, \"master_cpu_us\": %.1f}"
                    .formatted(what, callers, count / seconds, (masterSeconds() - used) * 1e6 / count));
        }
    }

    /** How many there were when the time was over. */
    private long makeCalls(Call call, int callers) throws ExecutionException, InterruptedException {
        long end = System.nanoTime() + nanos;
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try {
            List<Future<Long>> all = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                all.add(threads.submit(() -> {
                    long count = 0;
                    for (; System.nanoTime() < end; count++) {
                        call.make();
                    }
                    return count;
                }));
            }
            long count = 0;
            for (Future<Long> each : all) {
                count += each.get();
            }
            return count;
        } finally {
            threads.shutdownNow();
        }
    }

    /** CPU time of the master so far, in user space and in the kernel. */
    private double masterSeconds() throws IOException {
        String stat = Files.readString(masterStat);
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * TICK_SECONDS;
    }
}
