package io.posixgateway.alluxio.metrics;

import io.posixgateway.alluxio.bypass.BypassCounts;
import io.posixgateway.alluxio.bypass.BypassResult;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.VolumeCounts;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.posixgateway.alluxio.gateway.VolumeStats;
import io.posixgateway.alluxio.journal.SetAside;
import io.posixgateway.alluxio.meta.CacheCounts;
import io.posixgateway.alluxio.nodecache.CacheFigures;
import io.posixgateway.alluxio.store.RpcMetrics;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.metrics.Latencies;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.wire.Opcode;
import java.util.ArrayList;
import java.util.List;

/** Gathers the metrics of one volume. One thread. */
final class VolumeSamples {
    private final ServedVolume volume;
    private final Samples samples;
    private final List<String> labels;

    VolumeSamples(ServedVolume volume, Samples samples) {
        this.volume = volume;
        this.samples = samples;
        this.labels = List.of(
                volume.name(),
                volume.request().getLabelsOrDefault("pvc", ""),
                volume.request().getLabelsOrDefault("namespace", ""));
    }

    private void add(GatewayMetric metric, long value, String... more) {
        samples.add(metric, value, with(more));
    }

    private List<String> with(String... more) {
        List<String> all = new ArrayList<>(labels);
        all.addAll(List.of(more));
        return all;
    }

    void collect() {
        VolumeStats stats = volume.stats();
        add(
                GatewayMetric.VOLUME,
                1,
                volume.session().transportName(),
                volume.request().getAlluxioPath());
        add(GatewayMetric.HEALTHY, stats.condition().isEmpty() ? 1 : 0);
        add(GatewayMetric.CAPACITY, stats.capacityBytes());
        add(GatewayMetric.AVAILABLE, stats.availableBytes());
        add(GatewayMetric.TAKEOVERS, volume.takeovers());
        samples.addSeconds(GatewayMetric.TAKEOVER_SECONDS, volume.takeoverMillis() * 1_000_000L, labels);
        contents(volume.counts());
        details(volume.details());
        alluxio(volume.store());
        add(GatewayMetric.SLOW_NOW, volume.watch().slowNow());
        add(GatewayMetric.SLOW, volume.watch().slow());
        add(GatewayMetric.INTERRUPTED, volume.watch().interrupted());
        add(GatewayMetric.ABORTED, volume.watch().aborts());
        add(GatewayMetric.ACCESS_DROPPED, volume.accessLog().dropped());
        bypass(volume.bypassCounts());
        session(volume.session().metrics());
        for (Opcode opcode : Opcode.values()) {
            operation(volume.session().metrics(), opcode);
        }
    }

    private void contents(AlluxioFileSystem.Counts counts) {
        add(GatewayMetric.CACHED_NODES, counts.inodes());
        add(GatewayMetric.OPEN_FILES, counts.openFiles());
        add(GatewayMetric.CHANGED_FILES, counts.changedFiles());
        add(GatewayMetric.SPOOL_BYTES, counts.spoolBytes());
        add(GatewayMetric.SOURCE_BYTES, counts.localReadBytes(), "local");
        add(GatewayMetric.SOURCE_BYTES, counts.remoteReadBytes(), "remote");
        add(GatewayMetric.PASSTHROUGH_OPENS, counts.passthroughOpens());
    }

    private void details(VolumeCounts counts) {
        questions("attributes", counts.metadata().attributeCounts());
        questions("names", counts.metadata().nameCounts());
        add(GatewayMetric.CACHE_HITS, counts.blocks().hits(), "block_files");
        add(GatewayMetric.CACHE_MISSES, counts.blocks().opened(), "block_files");
        cache(
                "nodes",
                counts.inodes().size(),
                counts.inodes().most(),
                counts.inodes().evicted());
        add(GatewayMetric.CACHE_BYTES, counts.inodes().estimatedBytes(), "nodes");
        add(GatewayMetric.CACHE_LIMIT_BYTES, counts.inodes().mostBytes(), "nodes");
        cache(
                "block_files",
                counts.blocks().size(),
                counts.blocks().most(),
                counts.blocks().evicted());
        add(GatewayMetric.SPOOL_LIMIT, counts.spool().mostBytes());
        add(GatewayMetric.SPOOL_DISK, counts.spool().diskBytes());
        List<SetAside.Item> aside = counts.spool().aside().items();
        add(GatewayMetric.SET_ASIDE, aside.size());
        add(
                GatewayMetric.SET_ASIDE_BYTES,
                aside.stream().mapToLong(SetAside.Item::bytes).sum());
        add(GatewayMetric.UNFINISHED_RENAMES, counts.renames().present().size());
        add(GatewayMetric.BUFFER_BYTES, counts.buffers().usedBytes());
        add(GatewayMetric.BUFFER_LIMIT, counts.buffers().totalBytes());
        add(GatewayMetric.READ_AHEAD, counts.buffers().readAheadBytes());
        add(GatewayMetric.READ_AHEAD_WASTED, counts.buffers().wastedBytes());
        CacheFigures data = counts.cache();
        if (data != null) {
            dataCache(data);
            add(GatewayMetric.DATA_CACHE_STALE_OPENS, counts.staleOpens());
        }
    }

    private void dataCache(CacheFigures data) {
        add(GatewayMetric.SOURCE_BYTES, data.hitBytes(), "cache");
        add(GatewayMetric.DATA_CACHE_HITS, data.hits());
        add(GatewayMetric.DATA_CACHE_MISSES, data.misses());
        add(GatewayMetric.DATA_CACHE_SKIPPED, data.skipped());
        add(GatewayMetric.DATA_CACHE_PIECES, data.pieces());
        add(GatewayMetric.DATA_CACHE_EVICTIONS, data.evicted());
        add(GatewayMetric.DATA_CACHE_BYTES, data.bytes());
        add(GatewayMetric.DATA_CACHE_LIMIT, data.limitBytes());
        add(GatewayMetric.DATA_CACHE_DROPPED, data.dropped());
        add(GatewayMetric.DATA_CACHE_SCRUBBED, data.scrubbed());
        add(GatewayMetric.DATA_CACHE_FAULTS, data.faults());
        add(GatewayMetric.DATA_CACHE_SUSPENDED, data.suspended() ? 1 : 0);
    }

    private void bypass(BypassCounts counts) {
        add(GatewayMetric.BYPASS_OPENS, counts.opens());
        for (BypassResult bypassResult : BypassResult.values()) {
            long refused = counts.refused(bypassResult);
            if (refused > 0) {
                add(GatewayMetric.BYPASS_REFUSED, refused, bypassResult.label());
            }
        }
    }

    private void questions(String kind, CacheCounts counts) {
        add(GatewayMetric.CACHE_HITS, counts.hits(), kind);
        add(GatewayMetric.CACHE_MISSES, counts.misses(), kind);
    }

    private void cache(String kind, long entries, long most, long evicted) {
        add(GatewayMetric.CACHE_ENTRIES, entries, kind);
        if (most < Integer.MAX_VALUE) {
            add(GatewayMetric.CACHE_LIMIT, most, kind);
        }
        add(GatewayMetric.CACHE_EVICTIONS, evicted, kind);
    }

    private void alluxio(Store store) {
        RpcMetrics metrics = store.metrics();
        add(GatewayMetric.UFS_BYTES, store.ufsBytes());
        add(GatewayMetric.RPCS_IN_FLIGHT, metrics.inFlight());
        add(GatewayMetric.RPCS_LIMIT, store.mostCalls());
        for (RpcMetrics.Method method : RpcMetrics.Method.values()) {
            Latencies latencies = metrics.latencies(method);
            if (latencies.count() > 0) {
                samples.add(GatewayMetric.RPC_DURATION, latencies, with(method.label()));
                errors(metrics, method);
            }
        }
    }

    private void errors(RpcMetrics metrics, RpcMetrics.Method method) {
        for (int errno = 1; errno <= RpcMetrics.MAX_ERRNO; errno++) {
            long errors = metrics.errors(method, errno);
            if (errors > 0) {
                add(GatewayMetric.RPC_ERRORS, errors, method.label(), String.valueOf(errno));
            }
        }
    }

    private void session(SessionMetrics metrics) {
        long busy = metrics.workersBusy();
        add(GatewayMetric.WORKERS, busy, "busy");
        add(GatewayMetric.WORKERS, Math.max(0, metrics.workersAlive() - busy), "idle");
        add(GatewayMetric.WORKERS_STARTED, metrics.workersCreated());
        add(GatewayMetric.WORKERS_ENDED, metrics.workersDestroyed());
        add(GatewayMetric.IN_FLIGHT, metrics.inFlight());
        add(GatewayMetric.OFFLOADED, metrics.handedOver());
        add(GatewayMetric.QUEUED, metrics.queued());
        limits(metrics);
        add(GatewayMetric.POOL_LIMIT, volume.session().poolThreads());
        add(GatewayMetric.READ_BYTES, metrics.bytesRead());
        add(GatewayMetric.WRITTEN_BYTES, metrics.bytesWritten());
        long waiting = volume.session().kernelConnection().waiting();
        if (waiting >= 0) {
            add(GatewayMetric.KERNEL_WAITING, waiting);
        }
    }

    /** Left out where nothing was ever held up. */
    private void limits(SessionMetrics metrics) {
        if (metrics.delays() > 0) {
            add(GatewayMetric.DELAYED, metrics.delayed());
            add(GatewayMetric.DELAYS, metrics.delays());
            samples.addSeconds(GatewayMetric.DELAY_SECONDS, metrics.delayedNanos(), with());
        }
    }

    /** Operations that never came are left out, so that a volume costs few series. */
    private void operation(SessionMetrics metrics, Opcode opcode) {
        Latencies latencies = metrics.latencies(opcode);
        if (latencies.count() == 0) {
            return;
        }
        add(GatewayMetric.REQUESTS, latencies.count(), opcode.label());
        samples.add(GatewayMetric.DURATION, latencies, with(opcode.label()));
        long waited = metrics.waitedNanos(opcode);
        long remote = metrics.remoteNanos(opcode);
        samples.addSeconds(GatewayMetric.PHASE, waited, with(opcode.label(), "wait"));
        samples.addSeconds(GatewayMetric.PHASE, remote, with(opcode.label(), "alluxio"));
        samples.addSeconds(
                GatewayMetric.PHASE,
                Math.max(0, latencies.sumNanos() - waited - remote),
                with(opcode.label(), "file_system"));
        for (int errno = 1; errno <= SessionMetrics.MAX_ERRNO; errno++) {
            long errors = metrics.errors(opcode, errno);
            if (errors > 0) {
                add(GatewayMetric.ERRORS, errors, opcode.label(), String.valueOf(errno));
            }
        }
    }
}
