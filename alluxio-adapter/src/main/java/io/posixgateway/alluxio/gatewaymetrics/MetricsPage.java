package io.posixgateway.alluxio.gatewaymetrics;

import io.posixgateway.alluxio.service.Gateway;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The text that Prometheus reads. Any thread. */
public final class MetricsPage {
    /** Of Prometheus's text format. */
    public static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final PrometheusTextFormatWriter writer =
            PrometheusTextFormatWriter.builder().build();

    public MetricsPage(Gateway service) {
        JvmMetrics.builder().register(registry);
        registry.register(new GatewayCollector(service));
    }

    /** All metrics at this moment. */
    public String text() throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream(16 << 10);
        writer.write(text, registry.scrape());
        return text.toString(StandardCharsets.UTF_8);
    }
}
