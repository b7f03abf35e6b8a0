package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Report;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Random operations on open files and on names agree with models, on mounts that read in each way, and at last in the under file
 * system.
 */
class WriteStressIT {
    private static final int SECONDS = Integer.getInteger("pgw.stress.seconds", 8);
    /** From here on chance leaves out no way of reading. */
    private static final int LONG_SECONDS = 60;

    private static final int END_SECONDS = 180;
    private static final long SEED = Long.getLong("pgw.seed", System.nanoTime()) % 1_000_000;
    private static final String WRITES = "stress_writes.py";
    private static final String NAMES = "stress_names.py";

    @Test
    void randomOperationsAgreeWithModelsHoweverFilesAreRead() throws Exception {
        try (StressedMount near = mount(Map.of());
                StressedMount far = mount(Map.of("short_circuit", "off"));
                StressedMount below = mount(Map.of("short_circuit", "off", "write_type", "THROUGH"))) {
            near.start(WRITES, SEED, SECONDS);
            near.start(WRITES, SEED + 1, SECONDS);
            near.start(NAMES, SEED + 2, SECONDS);
            far.start(WRITES, SEED + 3, SECONDS);
            below.start(WRITES, SEED + 4, SECONDS);
            Map<String, StressedMount> mounts = new LinkedHashMap<>();
            mounts.put("near", near);
            mounts.put("far", far);
            mounts.put("below", below);
            assertThat(differences(mounts)).isEmpty();
            if (SECONDS >= LONG_SECONDS) {
                isTaken("local_bytes", near);
                isTaken("remote_bytes", far);
                isTaken("ufs_bytes", below);
            }
        }
    }

    private static void isTaken(String way, StressedMount mount) {
        assertThat(mount.reads().getOrDefault(way, 0L)).as(way).isPositive();
    }

    private static StressedMount mount(Map<String, String> own) throws Exception {
        Map<String, String> options = new LinkedHashMap<>(own);
        options.put("stream_from", "100K");
        return new StressedMount(options);
    }

    /** Of all programs, when they have ended and their work is reported. */
    private static List<String> differences(Map<String, StressedMount> mounts) throws Exception {
        List<String> differences = new ArrayList<>();
        Map<String, Long> operations = new TreeMap<>();
        Map<String, Map<String, Long>> reads = new LinkedHashMap<>();
        for (Map.Entry<String, StressedMount> each : mounts.entrySet()) {
            differences.addAll(each.getValue().differences(SECONDS + END_SECONDS, operations));
            reads.put(each.getKey(), each.getValue().reads());
        }
        new Report("stress")
                .with("seed", SEED)
                .with("seconds", SECONDS)
                .with("operations", operations)
                .with("reads", reads)
                .with("differences", differences)
                .tell();
        return differences;
    }
}
