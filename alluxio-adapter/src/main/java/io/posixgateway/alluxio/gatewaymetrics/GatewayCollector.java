package io.posixgateway.alluxio.gatewaymetrics;

import io.posixgateway.alluxio.AlluxioFileSystem;
import io.posixgateway.alluxio.service.GatewayService;
import io.posixgateway.alluxio.service.Volume;
import io.posixgateway.alluxio.service.VolumeStats;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.wire.Opcode;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;

/** Gathers the metrics of the service and its volumes at each scrape. */
final class GatewayCollector implements MultiCollector {
    private final GatewayService service;

    GatewayCollector(GatewayService service) {
        this.service = service;
    }

    @Override
    public MetricSnapshots collect() {
        Samples samples = new Samples();
        List<Volume> volumes = service.volumes().all();
        samples.add(GatewayMetric.BUILD, 1, List.of(service.version()));
        samples.add(GatewayMetric.READY, service.ready() ? 1 : 0, List.of());
        samples.add(GatewayMetric.VOLUMES, volumes.size(), List.of());
        for (Volume volume : volumes) {
            collect(volume, samples);
        }
        return samples.snapshots();
    }

    private static void collect(Volume volume, Samples samples) {
        List<String> labels = List.of(
                volume.name(),
                volume.request().getLabelsOrDefault("pvc", ""),
                volume.request().getLabelsOrDefault("namespace", ""));
        VolumeStats stats = volume.stats();
        samples.add(
                GatewayMetric.VOLUME,
                1,
                with(labels, volume.session().transportName(), volume.request().getAlluxioPath()));
        samples.add(GatewayMetric.HEALTHY, stats.condition().isEmpty() ? 1 : 0, labels);
        samples.add(GatewayMetric.CAPACITY, stats.capacityBytes(), labels);
        samples.add(GatewayMetric.AVAILABLE, stats.availableBytes(), labels);
        samples.add(GatewayMetric.TAKEOVERS, volume.takeovers(), labels);
        contents(volume.counts(), labels, samples);
        SessionMetrics metrics = volume.session().metrics();
        totals(metrics, labels, samples);
        for (Opcode opcode : Opcode.values()) {
            operation(metrics, opcode, labels, samples);
        }
    }

    private static void contents(AlluxioFileSystem.Counts counts, List<String> labels, Samples samples) {
        samples.add(GatewayMetric.CACHED_NODES, counts.inodes(), labels);
        samples.add(GatewayMetric.OPEN_FILES, counts.openFiles(), labels);
        samples.add(GatewayMetric.CHANGED_FILES, counts.changedFiles(), labels);
        samples.add(GatewayMetric.SPOOL_BYTES, counts.spoolBytes(), labels);
        samples.add(GatewayMetric.SOURCE_BYTES, counts.localReadBytes(), with(labels, "local"));
        samples.add(GatewayMetric.SOURCE_BYTES, counts.remoteReadBytes(), with(labels, "remote"));
    }

    private static void totals(SessionMetrics metrics, List<String> labels, Samples samples) {
        long busy = metrics.workersBusy();
        samples.add(GatewayMetric.WORKERS, busy, with(labels, "busy"));
        samples.add(GatewayMetric.WORKERS, Math.max(0, metrics.workersAlive() - busy), with(labels, "idle"));
        samples.add(GatewayMetric.WORKERS_STARTED, metrics.workersCreated(), labels);
        samples.add(GatewayMetric.WORKERS_ENDED, metrics.workersDestroyed(), labels);
        samples.add(GatewayMetric.IN_FLIGHT, metrics.inFlight(), labels);
        samples.add(GatewayMetric.HANDED_OVER, metrics.handedOver(), labels);
        samples.add(GatewayMetric.READ_BYTES, metrics.bytesRead(), labels);
        samples.add(GatewayMetric.WRITTEN_BYTES, metrics.bytesWritten(), labels);
    }

    /** Operations that never came are left out, so that a volume costs few series. */
    private static void operation(SessionMetrics metrics, Opcode opcode, List<String> labels, Samples samples) {
        long requests = metrics.requests(opcode);
        if (requests == 0) {
            return;
        }
        List<String> ofOperation = with(labels, opcode.label());
        samples.add(GatewayMetric.REQUESTS, requests, ofOperation);
        samples.add(GatewayMetric.DURATION, metrics.latencies(opcode), ofOperation);
        for (int errno = 1; errno <= SessionMetrics.MAX_ERRNO; errno++) {
            long errors = metrics.errors(opcode, errno);
            if (errors > 0) {
                samples.add(GatewayMetric.ERRORS, errors, with(ofOperation, String.valueOf(errno)));
            }
        }
    }

    private static List<String> with(List<String> labels, String... more) {
        List<String> all = new ArrayList<>(labels);
        all.addAll(List.of(more));
        return all;
    }
}
