package io.posixgateway.fuse.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * JMH finds no byte that a hit puts on the heap. {@code -Dpgw.jmh.millis=N} sets how long an iteration is; all shapes and
 * file systems are measured only when it is given ({@code make bench-requests}).
 */
class HitBenchTest {
    private static final Integer MILLIS = Integer.getInteger("pgw.jmh.millis");
    /** Per request; the least object has 16, and what a fork does beside its requests is counted with them. */
    private static final double NOTHING = 1;
    /**
     * Iterations get longer until what the fork does beside its requests is less than that: a loaded machine serves few in a
     * short one. What a request allocates stays.
     */
    private static final List<Integer> LENGTHS_MILLIS = MILLIS == null ? List.of(200, 1_000, 4_000) : List.of(MILLIS);

    /** As in the gateway's jvm.options. */
    private static final String COMPILER = "-XX:TieredStopAtLevel=1";

    @Test
    void noRequestThatIsAnsweredAtOnceAllocates() throws Exception {
        double most = Double.MAX_VALUE;
        for (int millis : LENGTHS_MILLIS) {
            if (most >= NOTHING) {
                most = mostBytes(millis);
            }
        }
        assertThat(most).as("bytes per request").isLessThan(NOTHING);
    }

    /** Of all requests, those that the costliest allocates. */
    private static double mostBytes(int millis) throws Exception {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include(HitBench.class.getName())
                .forks(1)
                .warmupIterations(2)
                .warmupTime(TimeValue.milliseconds(millis))
                .measurementIterations(MILLIS == null ? 1 : 5)
                .measurementTime(TimeValue.milliseconds(millis))
                .addProfiler(GCProfiler.class)
                .jvmArgs("-Xms256m", "-Xmx256m", COMPILER)
                .verbosity(MILLIS == null ? VerboseMode.SILENT : VerboseMode.NORMAL);
        if (MILLIS == null) {
            options.param("shape", "APART").param("files", "null");
        }
        Collection<RunResult> results = new Runner(options.build()).run();
        assertThat(results).isNotEmpty();
        double most = 0;
        for (RunResult result : results) {
            double bytes = Objects.requireNonNull(result.getSecondaryResults().get("gc.alloc.rate.norm"))
                    .getScore();
            String what = Stream.of("request", "shape", "files")
                    .map(result.getParams()::getParam)
                    .collect(Collectors.joining(" "));
            System.out.printf(
                    "%-28s %7.1f ns %5.3f B%n", what, result.getPrimaryResult().getScore(), bytes);
            most = Math.max(most, bytes);
        }
        return most;
    }
}
