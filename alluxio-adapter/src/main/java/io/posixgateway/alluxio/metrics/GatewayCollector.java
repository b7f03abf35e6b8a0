package io.posixgateway.alluxio.metrics;

import io.posixgateway.alluxio.gateway.Gateway;
import io.posixgateway.alluxio.gateway.MemoryCounts;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;

/** Gathers the metrics of the service and its volumes at each scrape. */
final class GatewayCollector implements MultiCollector {
    private final Gateway service;
    private final boolean oldNames;

    /** @param oldNames also offer each renamed metric by its earlier name */
    GatewayCollector(Gateway service, boolean oldNames) {
        this.service = service;
        this.oldNames = oldNames;
    }

    @Override
    public MetricSnapshots collect() {
        Samples samples = new Samples(oldNames);
        List<ServedVolume> volumes = service.all();
        samples.add(GatewayMetric.BUILD, 1, List.of(service.version()));
        samples.add(GatewayMetric.READY, service.ready() ? 1 : 0, List.of());
        samples.add(GatewayMetric.VOLUMES, volumes.size(), List.of());
        samples.add(GatewayMetric.SESSIONS_WITHOUT_KEEPER, service.unkeptSessions(), List.of());
        samples.add(GatewayMetric.REFUSED_SESSIONS, service.refusedSessions(), List.of());
        samples.add(GatewayMetric.BYPASS_REJECTED, service.bypassStrangers(), List.of());
        memory(samples, service.memory());
        for (ServedVolume volume : volumes) {
            new VolumeSamples(volume, samples).collect();
        }
        return samples.snapshots();
    }

    private static void memory(Samples samples, MemoryCounts counts) {
        samples.add(GatewayMetric.CACHE_BUDGET, counts.cacheBytes(), List.of());
        samples.add(GatewayMetric.CACHE_BUDGET_LIMIT, counts.cacheLimitBytes(), List.of());
        samples.add(GatewayMetric.MEMORY_STATE, 1, List.of(counts.state()));
        samples.addRatio(GatewayMetric.MEMORY_USED, counts.usedPart(), List.of());
        samples.add(GatewayMetric.VOLUMES_REFUSED, counts.refused(), List.of());
    }
}
