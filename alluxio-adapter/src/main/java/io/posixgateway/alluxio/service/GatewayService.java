package io.posixgateway.alluxio.service;

import io.posixgateway.alluxio.control.AttachRequest;
import io.posixgateway.alluxio.control.ControlServer;
import io.posixgateway.alluxio.gatewaymetrics.MetricsPage;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The service of one node: the volumes, the control API, the metrics page.
 *
 * <p>Life: {@link #start}, requests, {@link #drain} (by the API, a signal, or {@link #close}), end. Any thread.
 */
public final class GatewayService implements Gateway, AutoCloseable {
    private static final int KEEPER_TIMEOUT_MILLIS = 10_000;
    private static final int BACKGROUND_THREADS = 16;

    /**
     * Where it listens and who keeps its sessions.
     *
     * @param controlSocket Unix socket of the control API
     * @param keeperSocket Unix socket of the keeper
     * @param http address of /metrics, /healthz and /readyz
     * @param accessLogs folder of access logs that are switched on
     */
    public record Addresses(Path controlSocket, Path keeperSocket, InetSocketAddress http, Path accessLogs) {}

    private final ExecutorService background = backgroundPool();
    private final Volumes volumes;
    private final Takeover takeover;
    private final String version;
    private final ControlServer control;
    private final HttpPages pages;
    private final MetricsPage metrics;
    private final Watchdog watchdog;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean ending;

    private GatewayService(AlluxioVolumes source, Addresses addresses, String version) throws IOException {
        this.version = version;
        KeeperClient keeper = new KeeperClient(addresses.keeperSocket(), KEEPER_TIMEOUT_MILLIS);
        this.volumes = new Volumes(source, keeper, background, addresses.accessLogs());
        this.watchdog = new Watchdog(volumes::all);
        this.takeover = new Takeover(keeper, volumes, background, () -> ending);
        this.metrics = new MetricsPage(this);
        this.pages = new HttpPages(addresses.http(), metrics, this::ready);
        this.control = new ControlServer(addresses.controlSocket(), this, new Directories(source));
    }

    /**
     * Listens, and begins to take over what an earlier process served.
     *
     * @throws IOException an address is taken
     */
    public static GatewayService start(AlluxioVolumes source, Addresses addresses, String version) throws IOException {
        GatewayService service = new GatewayService(source, addresses, version);
        Thread thread = new Thread(service.takeover, "takeover");
        thread.setDaemon(true);
        thread.start();
        service.watchdog.start();
        try {
            service.control.start();
            service.pages.start();
            return service;
        } catch (IOException e) {
            service.close();
            throw e;
        }
    }

    @Override
    public List<Volume> all() {
        return volumes.all();
    }

    @Override
    public Volume named(String name) throws ServiceException {
        return volumes.named(name);
    }

    @Override
    public Volume attach(AttachRequest request) throws ServiceException {
        return volumes.attach(request);
    }

    @Override
    public void detach(String name) throws ServiceException {
        volumes.detach(name);
    }

    @Override
    public String metrics() throws IOException {
        return metrics.text();
    }

    @Override
    public String version() {
        return version;
    }

    /** Is every session of the keeper served, and is this process not ending? */
    @Override
    public boolean ready() {
        return takeover.done() && !ending;
    }

    /** Leaves the volumes to the next process and lets {@link #awaitEnd} return; how many there were. */
    @Override
    public int drain() {
        ending = true;
        int count = volumes.drain();
        ended.countDown();
        return count;
    }

    /** Waits for {@link #drain}. */
    public void awaitEnd() throws InterruptedException {
        ended.await();
    }

    /** Drains and stops listening. Idempotent. */
    @Override
    public void close() {
        drain();
        watchdog.close();
        control.close();
        pages.close();
        background.shutdown();
    }

    private static ExecutorService backgroundPool() {
        AtomicInteger number = new AtomicInteger();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                BACKGROUND_THREADS, BACKGROUND_THREADS, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "service-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }
}
