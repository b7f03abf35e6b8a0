package io.posixgateway.alluxio.serve;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.posixgateway.alluxio.metrics.MetricsPage;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * /metrics, /healthz and /readyz by HTTP.
 *
 * <p>A few threads of its own, and limits on how long a request or an answer may take: a slow or hostile reader harms only
 * other readers of these pages. The metrics are gathered at most once a second, however many ask, and so many at most are
 * given them at the same time, so that threads are left for the health pages.
 */
final class HttpPages implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HttpPages.class);
    private static final int THREADS = 12;
    private static final int QUEUE = 64;
    private static final int METRICS_AT_A_TIME = 4;
    private static final long METRICS_NANOS = 1_000_000_000L;
    private static final String LIMIT_SECONDS = "10";
    private static final int TURN_TRIES = 150;
    private static final long TURN_PAUSE_NANOS = 100_000_000;

    private final HttpServer server;
    private final ThreadPoolExecutor threads;
    private final MetricsPage metrics;
    private final BooleanSupplier ready;
    private final Semaphore metricsTurns = new Semaphore(METRICS_AT_A_TIME);

    private final Gathered text;
    private final Gathered protobuf;

    HttpPages(InetSocketAddress address, MetricsPage metrics, BooleanSupplier ready, Clock clock) throws IOException {
        System.setProperty("sun.net.httpserver.maxReqTime", LIMIT_SECONDS);
        System.setProperty("sun.net.httpserver.maxRspTime", LIMIT_SECONDS);
        this.metrics = metrics;
        this.text = new Gathered(() -> Page.text(200, MetricsPage.CONTENT_TYPE, metrics.text()), clock);
        this.protobuf = new Gathered(() -> new Page(200, MetricsPage.PROTOBUF_TYPE, metrics.protobuf()), clock);
        this.ready = ready;
        this.server = bind(address);
        this.threads = new ThreadPoolExecutor(
                THREADS, THREADS, 30, TimeUnit.SECONDS, new ArrayBlockingQueue<>(QUEUE), HttpPages::thread);
        threads.allowCoreThreadTimeOut(true);
        server.setExecutor(threads);
        server.createContext("/metrics", this::metrics);
        server.createContext("/healthz", exchange -> answer(exchange, () -> Page.text(200, "ok\n")));
        server.createContext("/readyz", exchange -> answer(exchange, this::readiness));
    }

    /** What is answered. */
    @SuppressWarnings("ArrayRecordComponent") // never compared, never changed
    private record Page(int status, String type, byte[] body) {
        static Page text(int status, String text) {
            return text(status, "text/plain; charset=utf-8", text);
        }

        static Page text(int status, String type, String text) {
            return new Page(status, type, text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private interface PageMaker {
        Page make() throws IOException;
    }

    /** A page that is made at most once a second. */
    private static final class Gathered {
        private final PageMaker maker;
        private final Clock clock;
        // Guarded by this.
        private @Nullable Page last;
        private long lastNanos;

        Gathered(PageMaker maker, Clock clock) {
            this.maker = maker;
            this.clock = clock;
        }

        synchronized Page page() throws IOException {
            Page page = last;
            long now = clock.nanos();
            if (page == null || now - lastNanos >= METRICS_NANOS) {
                page = maker.make();
                last = page;
                lastNanos = now;
            }
            return page;
        }
    }

    private static HttpServer bind(InetSocketAddress address) throws IOException {
        try {
            return HttpServer.create(address, QUEUE);
        } catch (IOException e) {
            throw new IOException(
                    "cannot listen at " + address + ": " + e.getMessage() + "; give another --http HOST:PORT", e);
        }
    }

    /** Listens as soon as the address is free, where an earlier process on this host is about to give it up. */
    static HttpPages inTurn(InetSocketAddress address, MetricsPage metrics, BooleanSupplier ready, Clock clock)
            throws IOException {
        for (int tries = 0; ; tries++) {
            try {
                return new HttpPages(address, metrics, ready, clock);
            } catch (IOException e) {
                if (tries == TURN_TRIES) {
                    throw e;
                }
                clock.pause(TURN_PAUSE_NANOS);
            }
        }
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "http");
        thread.setDaemon(true);
        return thread;
    }

    void start() {
        server.start();
    }

    /** Where it listens: the port chosen, when 0 was given. */
    InetSocketAddress address() {
        return server.getAddress();
    }

    private void metrics(HttpExchange exchange) throws IOException {
        if (!metricsTurns.tryAcquire()) {
            answer(exchange, () -> Page.text(503, "too many concurrent readers of the metrics\n"));
            return;
        }
        try {
            String accept = exchange.getRequestHeaders().getFirst("Accept");
            Gathered wanted = metrics.acceptsProtobuf(accept) ? protobuf : text;
            answer(exchange, wanted::page);
        } finally {
            metricsTurns.release();
        }
    }

    private Page readiness() {
        return ready.getAsBoolean()
                ? Page.text(200, "ready\n")
                : Page.text(503, "not all sessions of the keeper are served yet\n");
    }

    private static void answer(HttpExchange exchange, PageMaker maker) throws IOException {
        Page page;
        try {
            page = maker.make();
        } catch (IOException | RuntimeException e) {
            LOG.error("The page {} failed", exchange.getRequestURI(), e);
            page = Page.text(500, "failed; see the gateway's log\n");
        }
        byte[] body = page.body();
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", page.type());
            exchange.sendResponseHeaders(page.status(), body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
