package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * What an operator should know of the Alluxio behind these stores. Each Alluxio is asked once, all at the same time, each by a thread
 * of its own, which is left alone when it takes too long: a diagnosis must not wait for a master that does not answer.
 */
public final class StoreAdvice {
    /** There is nothing to advise. */
    public static final String NONE = "none\n";

    private StoreAdvice() {}

    /** A line for each advice, or that there is none. Waits for so long at most; the interrupt flag is kept. */
    static String text(Collection<Store> stores, long limitNanos) {
        Map<String, Store> clusters = new LinkedHashMap<>();
        stores.forEach(store -> clusters.putIfAbsent(store.cluster(), store));
        Map<String, List<String>> answers = new ConcurrentHashMap<>();
        CountDownLatch open = new CountDownLatch(clusters.size());
        clusters.forEach((name, store) -> {
            Thread thread = new Thread(
                    () -> {
                        answers.put(name, ask(store));
                        open.countDown();
                    },
                    "alluxio-advice");
            thread.setDaemon(true);
            thread.start();
        });
        try {
            boolean unused = open.await(limitNanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        StringBuilder text = new StringBuilder();
        for (String name : clusters.keySet()) {
            for (String line :
                    answers.getOrDefault(name, List.of("not available: the master did not answer in time"))) {
                // Java's form of an address; records on disk have it, too.
                text.append("Alluxio ")
                        .append(name.replace("/<unresolved>", ""))
                        .append(": ")
                        .append(line)
                        .append('\n');
            }
        }
        return text.isEmpty() ? NONE : text.toString();
    }

    /** A text of {@link #text}, behind what is wrong with the kernel's settings; empty: nothing is. */
    static String and(String kernel, String text) {
        return kernel.isEmpty() ? text : "kernel: " + kernel + "\n" + (text.equals(NONE) ? "" : text);
    }

    private static List<String> ask(Store store) {
        try {
            return store.advice();
        } catch (StoreException | RuntimeException e) {
            return List.of("not available: " + e.getMessage());
        }
    }
}
