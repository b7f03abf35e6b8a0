package io.posixgateway.alluxio.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.PrometheusProtobufWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.NativeHistogramBuckets;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class SamplesTest {
    private final SessionMetrics session = new SessionMetrics(Clock.system());

    private static String text(Samples samples) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrometheusTextFormatWriter.builder().build().write(out, samples.snapshots());
        return out.toString(StandardCharsets.UTF_8);
    }

    private static List<String> someLabels(GatewayMetric metric) {
        return metric.labels().stream().map(name -> "some-" + name).toList();
    }

    @Test
    void every_declared_metric_appears_under_its_documented_name_with_its_labels() throws IOException {
        Samples samples = new Samples(false);
        for (GatewayMetric metric : GatewayMetric.values()) {
            if (metric.type() == GatewayMetric.Type.HISTOGRAM) {
                samples.add(metric, session.latencies(Opcode.READ), someLabels(metric));
            } else {
                samples.add(metric, 1, someLabels(metric));
            }
        }
        String text = text(samples);
        for (GatewayMetric metric : GatewayMetric.values()) {
            assertThat(text)
                    .contains("\n" + metric.exposedName().replaceAll("duration_seconds$", "duration_seconds_bucket"));
            assertThat(text).contains("# HELP " + metric.exposedName() + " " + metric.help());
            for (String label : metric.labels()) {
                assertThat(text).contains(label + "=\"some-" + label + "\"");
            }
            assertThat(GatewayMetric.markdown()).contains("| `" + metric.exposedName() + "` |");
        }
    }

    @Test
    void a_renamed_metric_has_its_earlier_name_too_where_that_is_wanted() throws IOException {
        for (boolean oldNames : new boolean[] {false, true}) {
            Samples samples = new Samples(oldNames);
            samples.add(GatewayMetric.OFFLOADED, 7, someLabels(GatewayMetric.OFFLOADED));
            samples.add(GatewayMetric.SESSIONS_WITHOUT_KEEPER, 2, List.of());
            samples.add(GatewayMetric.BYPASS_REJECTED, 3, List.of());
            String text = text(samples);
            assertThat(text)
                    .containsPattern("posix_gateway_requests_offloaded_total\\{[^}]*} 7")
                    .contains(
                            "\nposix_gateway_sessions_without_keeper 2",
                            "\nposix_gateway_bypass_rejected_requests_total 3");
            assertThat(text.contains("\nposix_gateway_unkept_sessions 2")).isEqualTo(oldNames);
            assertThat(text.contains("\nposix_gateway_bypass_strangers_total 3"))
                    .isEqualTo(oldNames);
            assertThat(text.contains("\nposix_gateway_requests_handed_over_total{"))
                    .isEqualTo(oldNames);
        }
    }

    @Test
    void durations_are_counted_below_their_bound_and_summed_in_seconds() throws IOException {
        session.requestBegan();
        session.requestEnded(Opcode.READ, 0, 3_000_000);
        Samples samples = new Samples(false);
        samples.add(GatewayMetric.DURATION, session.latencies(Opcode.READ), someLabels(GatewayMetric.DURATION));
        assertThat(text(samples))
                .containsPattern("duration_seconds_bucket\\{[^}]*le=\"0.001048576\"} 0")
                .containsPattern("duration_seconds_bucket\\{[^}]*le=\"0.004194304\"} 1")
                .containsPattern("duration_seconds_bucket\\{[^}]*le=\"\\+Inf\"} 1")
                .containsPattern("duration_seconds_sum\\{[^}]*} 0.003");
    }

    @Test
    void native_histograms_have_each_duration_once_and_in_its_place() {
        session.requestBegan();
        session.requestEnded(Opcode.READ, 0, 100);
        long[] durations = {3_000_000, 3_000_000, 250_000_000, 100_000_000_000L};
        for (long nanos : durations) {
            session.requestBegan();
            session.requestEnded(Opcode.READ, 0, nanos);
        }
        NativeHistogramBuckets buckets = NativeBuckets.of(session.latencies(Opcode.READ));
        assertThat(buckets.stream().map(bucket -> bucket.getCount())).containsExactly(2L, 1L, 1L);
        double[] seconds = {0.003, 0.25, 68.7};
        for (int i = 0; i < seconds.length; i++) {
            double upper = Math.pow(2, buckets.getBucketIndex(i) / 4.0);
            assertThat(seconds[i]).isBetween(upper / 1.5, upper * 1.25);
        }
        Samples samples = new Samples(false);
        samples.add(GatewayMetric.DURATION, session.latencies(Opcode.READ), someLabels(GatewayMetric.DURATION));
        assertThat(new PrometheusProtobufWriter().toDebugString(samples.snapshots(), EscapingScheme.DEFAULT))
                .contains("sample_count: 5", "schema: 2", "zero_count: 1", "positive_span", "cumulative_count");
    }
}
