package io.posixgateway.alluxio.cli;

import io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.control.proto.MetricsRequest;
import io.posixgateway.fuse.time.Clock;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What a mount does, one line after the other. */
@Command(
        name = "stats",
        description = "Shows the activity of a mount, one line per second, until Ctrl-C.",
        footer = {
            "",
            "ops/s      requests answered per second, and their mean time, without those that the kernel answers from"
                    + " its caches",
            "read/write bytes per second returned to readers and received from writers",
            "hit%%       lookups of metadata that were served from memory",
            "rpc/s      calls to Alluxio per second, and their mean time",
            "flight     requests in flight; queue: those of them that wait for a thread",
            "",
            "Examples:",
            "  posix-gateway stats /mnt/data",
            "  posix-gateway stats /mnt/data --count 1 --interval 10     a mean over ten seconds"
        })
final class StatsCommand implements Callable<Integer> {
    private static final int HEADER_EVERY = 20;
    private static final String COLUMNS = "%8s %8s %8s %8s %6s %8s %8s %6s %6s %7s %8s %7s%n";

    @Parameters(paramLabel = "MOUNTPOINT", description = "A mount of posix-gateway, or any path in it.")
    private String path = "";

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "Seconds between two lines; default ${DEFAULT-VALUE}.")
    private int interval;

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "0",
            description = "Exit after this many lines; 0: never.")
    private long count;

    @Mixin
    private Target target = new Target();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        if (interval < 1) {
            throw new CommandException("--interval " + interval + ": give at least 1 second");
        }
        if (count < 0) {
            throw new CommandException("--count " + count + ": give a number of lines, or 0 for no limit");
        }
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        EndOnSignal signals = EndOnSignal.atOnce();
        try (Target.Found found = target.find(path)) {
            MetricsText before = read(found);
            long beforeNanos = Clock.system().nanos();
            for (long line = 0; count == 0 || line < count; line++) {
                if (line % HEADER_EVERY == 0) {
                    header(out);
                }
                Thread.sleep(interval * 1000L);
                MetricsText now = read(found);
                long nowNanos = Clock.system().nanos();
                show(out, before, now, (nowNanos - beforeNanos) / 1e9);
                before = now;
                beforeNanos = nowNanos;
            }
        } finally {
            signals.close();
        }
        return 0;
    }

    private static MetricsText read(Target.Found found) {
        try {
            String text = found.client()
                    .calls()
                    .metrics(MetricsRequest.getDefaultInstance())
                    .getText();
            return new MetricsText(text, found.volume().getVolume());
        } catch (StatusRuntimeException e) {
            throw found.client().explained(e);
        }
    }

    private static void header(PrintWriter out) {
        out.printf(
                Locale.ROOT,
                COLUMNS,
                "ops/s",
                "mean",
                "read/s",
                "write/s",
                "hit%",
                "rpc/s",
                "mean",
                "flight",
                "queue",
                "threads",
                "heap",
                "open");
        out.flush();
    }

    private static void show(PrintWriter out, MetricsText before, MetricsText now, double seconds) {
        double requests = gained(before, now, "requests_total");
        double spent = gained(before, now, "request_duration_seconds_sum");
        double calls = gained(before, now, "rpc_duration_seconds_count");
        double waited = gained(before, now, "rpc_duration_seconds_sum");
        double hits = metadata(before, now, "cache_hits_total");
        double misses = metadata(before, now, "cache_misses_total");
        out.printf(
                Locale.ROOT,
                COLUMNS,
                NumberFormats.size(requests / seconds),
                time(spent, requests),
                NumberFormats.size(gained(before, now, "read_bytes_total") / seconds),
                NumberFormats.size(gained(before, now, "written_bytes_total") / seconds),
                hits + misses == 0 ? "-" : String.format(Locale.ROOT, "%.0f", 100 * hits / (hits + misses)),
                NumberFormats.size(calls / seconds),
                time(waited, calls),
                whole(now.sum("requests_in_flight")),
                whole(now.sum("requests_queued")),
                whole(now.sum("worker_threads", "state=\"busy\"")) + "/" + whole(now.sum("worker_threads")),
                NumberFormats.size(now.sumOf("jvm_memory_used_bytes", "area=\"heap\"")),
                whole(now.sum("open_files")));
        out.flush();
    }

    private static double gained(MetricsText before, MetricsText now, String metric, String... labels) {
        return Math.max(0, now.sum(metric, labels) - before.sum(metric, labels));
    }

    private static double metadata(MetricsText before, MetricsText now, String metric) {
        return gained(before, now, metric, "kind=\"attributes\"") + gained(before, now, metric, "kind=\"names\"");
    }

    private static String time(double seconds, double count) {
        if (count == 0) {
            return "-";
        }
        double micros = seconds / count * 1e6;
        return micros < 1000
                ? String.format(Locale.ROOT, "%.0fus", micros)
                : micros < 1e6
                        ? String.format(Locale.ROOT, "%.1fms", micros / 1000)
                        : String.format(Locale.ROOT, "%.1fs", micros / 1e6);
    }

    private static String whole(double number) {
        return String.valueOf((long) number);
    }
}
