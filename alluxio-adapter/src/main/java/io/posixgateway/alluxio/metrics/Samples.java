package io.posixgateway.alluxio.metrics;

import io.posixgateway.fuse.metrics.Latencies;
import io.posixgateway.fuse.metrics.LatencyBuckets;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The values of one scrape, put together metric by metric. One thread. */
final class Samples {
    /** Of the fine buckets of a session, every eighth bound is exported: each is four times the one before. */
    private static final int FINE_PER_EXPORTED = 8;

    private static final double NANOS = 1e9;

    private final boolean oldNames;
    private final Map<GatewayMetric, CounterSnapshot.Builder> counters = new EnumMap<>(GatewayMetric.class);
    private final Map<GatewayMetric, GaugeSnapshot.Builder> gauges = new EnumMap<>(GatewayMetric.class);
    private final Map<GatewayMetric, InfoSnapshot.Builder> infos = new EnumMap<>(GatewayMetric.class);
    private final Map<GatewayMetric, HistogramSnapshot.Builder> histograms = new EnumMap<>(GatewayMetric.class);

    /** @param oldNames also give each renamed metric by its earlier name */
    Samples(boolean oldNames) {
        this.oldNames = oldNames;
    }

    /** @param labels values in the order of the metric's label names */
    void add(GatewayMetric metric, long value, List<String> labels) {
        Labels named = named(metric, labels);
        switch (metric.type()) {
            case COUNTER -> counter(metric, (double) value, named);
            case GAUGE -> gauge(metric, (double) value, named);
            case INFO -> info(metric, named);
            case HISTOGRAM -> throw new IllegalStateException(metric + " takes latencies");
        }
    }

    /** Of a counter or a gauge that is exported in seconds. */
    void addSeconds(GatewayMetric metric, long nanos, List<String> labels) {
        if (metric.type() == GatewayMetric.Type.COUNTER) {
            counter(metric, nanos / NANOS, named(metric, labels));
        } else {
            gauge(metric, nanos / NANOS, named(metric, labels));
        }
    }

    /** Of a gauge that is a part of something. */
    void addRatio(GatewayMetric metric, double part, List<String> labels) {
        gauge(metric, part, named(metric, labels));
    }

    private void counter(GatewayMetric metric, double value, Labels labels) {
        counters.computeIfAbsent(
                        metric,
                        key -> CounterSnapshot.builder().name(key.plainName()).help(key.help()))
                .dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                        .value(value)
                        .labels(labels)
                        .build());
    }

    private void gauge(GatewayMetric metric, double value, Labels labels) {
        gauges.computeIfAbsent(
                        metric,
                        key -> GaugeSnapshot.builder().name(key.plainName()).help(key.help()))
                .dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                        .value(value)
                        .labels(labels)
                        .build());
    }

    private void info(GatewayMetric metric, Labels labels) {
        infos.computeIfAbsent(
                        metric,
                        key -> InfoSnapshot.builder().name(key.plainName()).help(key.help()))
                .dataPoint(InfoSnapshot.InfoDataPointSnapshot.builder()
                        .labels(labels)
                        .build());
    }

    void add(GatewayMetric metric, Latencies latencies, List<String> labels) {
        histograms
                .computeIfAbsent(
                        metric,
                        key -> HistogramSnapshot.builder().name(key.plainName()).help(key.help()))
                .dataPoint(HistogramSnapshot.HistogramDataPointSnapshot.builder()
                        .classicHistogramBuckets(buckets(latencies))
                        .nativeSchema(NativeBuckets.SCHEMA)
                        .nativeZeroThreshold(NativeBuckets.ZERO_THRESHOLD_SECONDS)
                        .nativeZeroCount(latencies.countIn(0))
                        .nativeBucketsForPositiveValues(NativeBuckets.of(latencies))
                        .sum(latencies.sumNanos() / NANOS)
                        .labels(named(metric, labels))
                        .build());
    }

    private static ClassicHistogramBuckets buckets(Latencies latencies) {
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        long count = 0;
        for (int i = 0; i < LatencyBuckets.COUNT; i++) {
            count += latencies.countIn(i);
            boolean last = i == LatencyBuckets.COUNT - 1;
            if (last || i % FINE_PER_EXPORTED == 0) {
                buckets.bucket(last ? Double.POSITIVE_INFINITY : LatencyBuckets.upperBoundNanos(i) / NANOS, count);
                count = 0;
            }
        }
        return buckets.build();
    }

    private static Labels named(GatewayMetric metric, List<String> values) {
        return Labels.of(metric.labels(), values);
    }

    MetricSnapshots snapshots() {
        List<MetricSnapshot> all = new ArrayList<>();
        counters.forEach((metric, builder) -> addTo(all, metric, builder));
        gauges.forEach((metric, builder) -> addTo(all, metric, builder));
        infos.values().forEach(builder -> all.add(builder.build()));
        histograms.values().forEach(builder -> all.add(builder.build()));
        return new MetricSnapshots(all);
    }

    private void addTo(List<MetricSnapshot> all, GatewayMetric metric, MetricSnapshot.Builder<?> builder) {
        all.add(builder.build());
        String earlier = metric.earlierName();
        if (oldNames && earlier != null) {
            builder.name(earlier);
            all.add(builder.build());
        }
    }
}
