package io.posixgateway.alluxio.gatewaymetrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.wire.Opcode;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class SamplesTest {
    private final SessionMetrics session = new SessionMetrics();

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
        Samples samples = new Samples();
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
    void durations_are_counted_below_their_bound_and_summed_in_seconds() throws IOException {
        session.requestBegan();
        session.requestEnded(Opcode.READ, 0, 3_000_000);
        Samples samples = new Samples();
        samples.add(GatewayMetric.DURATION, session.latencies(Opcode.READ), someLabels(GatewayMetric.DURATION));
        assertThat(text(samples))
                .containsPattern("duration_seconds_bucket\\{[^}]*le=\"0.001048576\"} 0")
                .containsPattern("duration_seconds_bucket\\{[^}]*le=\"0.004194304\"} 1")
                .containsPattern("duration_seconds_bucket\\{[^}]*le=\"\\+Inf\"} 1")
                .containsPattern("duration_seconds_sum\\{[^}]*} 0.003");
    }
}
