package io.posixgateway.alluxio.gateway;

import com.sun.nio.file.ExtendedOpenOption;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.FreePort;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.Report;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What readers of one volume that wait for a slow worker cost the reader of another one, in the same gateway: the quiet volume's
 * reads per second and their 99th percentile, beside the others and alone, by turns. The quiet volume reads block files on this
 * host; the others' bytes come through the worker, a round trip away.
 */
class FairnessBench {
    private static final int ROUNDS = Integer.getInteger("pgw.rounds", 10);
    private static final int READERS = Integer.getInteger("pgw.readers", 64);
    private static final double SECONDS = Double.parseDouble(System.getProperty("pgw.seconds", "3"));
    private static final int ROUND_TRIP_MILLIS = Integer.getInteger("pgw.round.trip.ms", 500);

    private static final int PIECE_BYTES = 4096;
    private static final int FILE_BYTES = 64 << 20;
    private static final int LONGEST = 1_000_000;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String HERE = "127.0.0.1";
    /** By this name the worker is a round trip away. */
    private static final String FAR = "127.0.0.2";

    @TempDir
    private Path folder = Path.of("");

    /** Of one turn. */
    private record Seen(double perSecond, double p99Micros) {}

    @Test
    void quiet_volume_beside_readers_that_wait() throws Exception {
        try (FreePort port = FreePort.take()) {
            quietBesideBusy(port.number());
        }
    }

    private void quietBesideBusy(int port) throws Exception {
        Map<String, String> worker =
                Map.of("alluxio.worker.hostname", FAR, "alluxio.worker.rpc.port", String.valueOf(port));
        Process delay = delay(port);
        try (EmbeddedAlluxio alluxio =
                        EmbeddedAlluxio.start(EmbeddedOptions.defaults().withProperties(worker));
                Node node = new Node(folder)) {
            node.awaitReady();
            Path quiet = attach(node, alluxio, "quiet", true);
            Path busy = attach(node, alluxio, "busy", false);
            fill(quiet.resolve("file"));
            fill(busy.resolve("file"));
            setRoundTrip(delay, ROUND_TRIP_MILLIS);
            measure(quiet.resolve("file"), busy.resolve("file"));
        } finally {
            delay.destroy();
            delay.waitFor();
        }
    }

    private static Process delay(int port) throws IOException {
        Path program = Built.root().resolve("alluxio-adapter/bench/target/delay");
        Process delay = new ProcessBuilder(program.toString(), FAR + ":" + port, HERE + ":" + port)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        awaitOk(delay);
        return delay;
    }

    private static void awaitOk(Process delay) throws IOException {
        // Not closed: it is asked again.
        String said =
                new BufferedReader(new InputStreamReader(delay.getInputStream(), StandardCharsets.UTF_8)).readLine();
        if (!"OK".equals(said)) {
            throw new IOException("the delay said " + said);
        }
    }

    private static void setRoundTrip(Process delay, int millis) throws IOException {
        delay.getOutputStream().write((millis * 1000 + "\n").getBytes(StandardCharsets.UTF_8));
        delay.getOutputStream().flush();
        awaitOk(delay);
    }

    private static Path attach(Node node, EmbeddedAlluxio alluxio, String volume, boolean near) throws Exception {
        Files.createDirectories(alluxio.ufs().resolve(volume));
        Path mount = node.mount(volume);
        AttachRequest.Builder request = Node.request(volume, alluxio.masters(), "/" + volume).toBuilder()
                .putOptions("write_type", "MUST_CACHE")
                .putOptions("short_circuit", near ? "on" : "off")
                .putOptions("prefetch", "off");
        request.getClusterBuilder().putProperties("alluxio.user.hostname", near ? FAR : HERE);
        node.control().attach(request.build());
        return mount;
    }

    private static void fill(Path file) throws IOException {
        byte[] content = new byte[FILE_BYTES];
        new Random(1).nextBytes(content);
        Files.write(file, content);
    }

    private static void measure(Path quiet, Path busy) throws Exception {
        read(quiet, SECONDS); // compiles
        List<Seen> alone = new ArrayList<>();
        List<Seen> beside = new ArrayList<>();
        AtomicLong others = new AtomicLong();
        for (int round = 0; round < ROUNDS; round++) {
            if (round % 2 == 0) {
                alone.add(read(quiet, SECONDS));
                beside.add(beside(quiet, busy, others));
            } else {
                beside.add(beside(quiet, busy, others));
                alone.add(read(quiet, SECONDS));
            }
        }
        double othersPerSecond = others.get() / (SECONDS * ROUNDS);
        report(alone, beside, othersPerSecond);
    }

    private static Seen beside(Path quiet, Path busy, AtomicLong others) throws Exception {
        try (BusyReaders readers = new BusyReaders(busy)) {
            readers.awaitReads();
            long before = readers.reads.get();
            Seen seen = read(quiet, SECONDS);
            others.addAndGet(readers.reads.get() - before);
            return seen;
        }
    }

    /** One reader, of pieces at random; nothing comes from the page cache. */
    private static Seen read(Path file, double seconds) throws IOException {
        long[] nanos = new long[LONGEST];
        int count = 0;
        Random random = new Random(count);
        ByteBuffer buffer = buffer();
        try (FileChannel open = open(file)) {
            long began = System.nanoTime();
            long end = began + (long) (seconds * 1e9);
            long last = began;
            while (last < end && count < LONGEST) {
                piece(open, random, buffer);
                long now = System.nanoTime();
                nanos[count++] = now - last;
                last = now;
            }
            Arrays.sort(nanos, 0, count);
            return new Seen(count * 1e9 / (last - began), nanos[count * 99 / 100] / 1e3);
        }
    }

    private static FileChannel open(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT);
    }

    private static ByteBuffer buffer() {
        return ByteBuffer.allocateDirect(2 * PIECE_BYTES)
                .alignedSlice(PIECE_BYTES)
                .limit(PIECE_BYTES);
    }

    private static void piece(FileChannel file, Random random, ByteBuffer buffer) throws IOException {
        buffer.position(0);
        if (file.read(buffer, (long) random.nextInt(FILE_BYTES / PIECE_BYTES) * PIECE_BYTES) != PIECE_BYTES) {
            throw new IOException("a read brought less than a piece");
        }
    }

    /** The readers that wait. */
    private static final class BusyReaders implements AutoCloseable {
        private final AtomicLong reads = new AtomicLong();
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean over;

        BusyReaders(Path file) {
            for (int i = 0; i < READERS; i++) {
                int seed = i;
                Thread thread = new Thread(() -> readOn(file, seed), "busy-" + i);
                threads.add(thread);
                thread.start();
            }
        }

        private void readOn(Path file, int seed) {
            Random random = new Random(seed);
            ByteBuffer buffer = buffer();
            try (FileChannel open = open(file)) {
                while (!over) {
                    piece(open, random, buffer);
                    reads.incrementAndGet();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Until each has waited once. */
        void awaitReads() throws Exception {
            Waiting.until("each reader waited once", LIMIT, () -> reads.get() >= READERS);
        }

        @Override
        public void close() {
            over = true;
            try {
                for (Thread thread : threads) {
                    thread.join();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void report(List<Seen> alone, List<Seen> beside, double othersPerSecond) throws IOException {
        List<Double> rates = new ArrayList<>();
        List<Double> tails = new ArrayList<>();
        for (int i = 0; i < alone.size(); i++) {
            rates.add(beside.get(i).perSecond() / alone.get(i).perSecond());
            tails.add(beside.get(i).p99Micros() / alone.get(i).p99Micros());
        }
        new Report("fairness")
                .with("rounds", ROUNDS)
                .with("readers", READERS)
                .with("round_trip_ms", ROUND_TRIP_MILLIS)
                .with("others_reads_per_s", rounded(othersPerSecond))
                .with(
                        "alone_reads_per_s",
                        spread(alone.stream().map(Seen::perSecond).toList()))
                .with(
                        "beside_reads_per_s",
                        spread(beside.stream().map(Seen::perSecond).toList()))
                .with("alone_p99_us", spread(alone.stream().map(Seen::p99Micros).toList()))
                .with(
                        "beside_p99_us",
                        spread(beside.stream().map(Seen::p99Micros).toList()))
                .with("reads_ratio", spread(rates))
                .with("p99_ratio", spread(tails))
                .tell();
    }

    /** Median, least and greatest. */
    private static String spread(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return rounded(sorted.get(sorted.size() / 2)) + " (" + rounded(sorted.get(0)) + "…"
                + rounded(sorted.get(sorted.size() - 1)) + ")";
    }

    private static String rounded(double value) {
        return String.format(Locale.ROOT, value < 100 ? "%.2f" : "%.0f", value);
    }
}
