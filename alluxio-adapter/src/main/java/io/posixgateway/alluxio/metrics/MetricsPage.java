package io.posixgateway.alluxio.metrics;

import io.posixgateway.alluxio.gateway.Gateway;
import io.prometheus.metrics.expositionformats.PrometheusProtobufWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** What Prometheus reads: text, or protobuf, which has native histograms besides the classic ones. Any thread. */
public final class MetricsPage {
    /** Of Prometheus's text format. */
    public static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

    /** Of its protobuf format. */
    public static final String PROTOBUF_TYPE = PrometheusProtobufWriter.CONTENT_TYPE;

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final PrometheusTextFormatWriter writer =
            PrometheusTextFormatWriter.builder().build();
    private final PrometheusProtobufWriter protobufWriter = new PrometheusProtobufWriter();

    /** With each metric by its present name alone. */
    public MetricsPage(Gateway service) {
        this(service, false);
    }

    /** @param oldNames also offer each renamed metric by its earlier name */
    public MetricsPage(Gateway service, boolean oldNames) {
        JvmMetrics.builder().register(registry);
        registry.register(new GatewayCollector(service, oldNames));
    }

    /** All metrics at this moment. */
    public String text() throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream(16 << 10);
        writer.write(text, registry.scrape());
        return text.toString(StandardCharsets.UTF_8);
    }

    /** The same for a reader that accepts protobuf, as Prometheus does where native histograms are switched on. */
    public byte[] protobuf() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(16 << 10);
        protobufWriter.write(bytes, registry.scrape());
        return bytes.toByteArray();
    }

    /** @param accept header of a request; null: none */
    public boolean acceptsProtobuf(@Nullable String accept) {
        return accept != null && protobufWriter.accepts(accept);
    }
}
