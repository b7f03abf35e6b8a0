package io.posixgateway.alluxio.gateway;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What of the heap is not in use. The collector marks what lives beside programs (ExplicitGCInvokesConcurrent), but compacts the
 * regions of which little does within young collections alone, which a process with little to do has none of, and keeps free twice
 * of what is in use. One thread at a time; waits for the collector.
 */
final class SpareHeap {
    private static final Logger LOG = LoggerFactory.getLogger(SpareHeap.class);
    /** What the collector keeps free, in percent of the heap: at least, and at most. */
    private static final String MIN = "MinHeapFreeRatio";

    private static final String MAX = "MaxHeapFreeRatio";
    private static final String LITTLE = "10";
    private static final String SOME = "20";
    /** In so many young collections the collector compacts what it has marked. */
    private static final int COMPACTIONS = 10;

    private static final int PIECE_BYTES = 1000;
    private static final int PIECES = 1000;

    /** So that pieces are made. */
    private static volatile byte[] piece = {};

    private SpareHeap() {}

    /** Has what is not in use any more collected, and given back to the system. */
    static void giveBack() {
        HotSpotDiagnosticMXBean machine = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        String least = machine.getVMOption(MIN).getValue();
        String most = machine.getVMOption(MAX).getValue();
        try {
            machine.setVMOption(MIN, LITTLE);
            machine.setVMOption(MAX, SOME);
            System.gc(); // marks
            compact();
            System.gc(); // gives back
        } catch (IllegalArgumentException e) {
            LOG.warn("The heap's size cannot be adjusted: {}", e.toString());
        } finally {
            machine.setVMOption(MAX, most);
            machine.setVMOption(MIN, least);
        }
    }

    /** Brings about young collections, with a heap of garbage at most. */
    private static void compact() {
        long last = youngCollections() + COMPACTIONS;
        long left = Runtime.getRuntime().maxMemory();
        while (youngCollections() < last && left > 0) {
            for (int i = 0; i < PIECES; i++) {
                piece = new byte[PIECE_BYTES];
            }
            left -= (long) PIECES * piece.length;
        }
        piece = new byte[0];
    }

    private static long youngCollections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(collector -> collector.getName().contains("Young"))
                .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                .sum();
    }
}
