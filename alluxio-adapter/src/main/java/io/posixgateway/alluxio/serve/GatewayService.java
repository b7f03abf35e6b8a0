package io.posixgateway.alluxio.serve;

import io.posixgateway.alluxio.control.ControlServer;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.gateway.BypassEndpoint;
import io.posixgateway.alluxio.gateway.Directories;
import io.posixgateway.alluxio.gateway.FileSystemFactory;
import io.posixgateway.alluxio.gateway.Gateway;
import io.posixgateway.alluxio.gateway.KeeperClient;
import io.posixgateway.alluxio.gateway.KeeperWatch;
import io.posixgateway.alluxio.gateway.MemoryCounts;
import io.posixgateway.alluxio.gateway.MemoryWatch;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.posixgateway.alluxio.gateway.ServiceException;
import io.posixgateway.alluxio.gateway.Takeover;
import io.posixgateway.alluxio.gateway.Volumes;
import io.posixgateway.alluxio.journal.StateFolder;
import io.posixgateway.alluxio.metrics.MetricsPage;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.time.Supervised;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The service of one node: the volumes, the control API, the metrics page.
 *
 * <p>Life: {@link #start}, perhaps waiting for another process that leads, requests, {@link #drain} (by the API, a signal, or
 * {@link #close}), end. Any thread.
 */
public final class GatewayService implements Gateway, AutoCloseable {
    private static final int KEEPER_TIMEOUT_MILLIS = 10_000;
    private static final int BACKGROUND_THREADS = 16;
    private static final long FIRST_TRY_MILLIS = 3000;
    private static final Logger LOG = LoggerFactory.getLogger(GatewayService.class);

    /**
     * Where it listens and who keeps its sessions.
     *
     * @param controlSocket Unix socket of the control API
     * @param keeperSocket Unix socket of the keeper
     * @param http address of /metrics, /healthz and /readyz
     * @param lead file whose lock says which of several processes serves
     * @param accessLogs folder of access logs that are switched on
     * @param bypassSocket Unix socket of programs that read without FUSE
     */
    public record Addresses(
            Path controlSocket,
            Path keeperSocket,
            InetSocketAddress http,
            Path lead,
            Path accessLogs,
            Path bypassSocket) {}

    /**
     * How it begins and what its pages offer.
     *
     * @param standby the address of the pages is another process's as long as that leads
     * @param oldMetricNames renamed metrics are offered by their earlier names, too
     */
    public record Mode(boolean standby, boolean oldMetricNames) {}

    private final ExecutorService background = backgroundPool();
    private final Clock clock;
    private final MemoryWatch memory;
    private final BypassEndpoint bypass;
    private final Volumes volumes;
    private final Takeover takeover;
    private final String version;
    private final boolean oldMetricNames;
    private final ControlServer control;
    private final LeaderLock lead;
    private final Addresses addresses;
    private final Watchdog watchdog;
    private final KeeperWatch keeperWatch;
    /** Guarded by this; made when somebody asks. */
    private @Nullable MetricsPage metrics;

    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile @Nullable HttpPages pages;
    private volatile @Nullable IOException failure;
    private volatile boolean leads;
    private volatile boolean ending;

    private GatewayService(FileSystemFactory source, Addresses addresses, String version, boolean oldMetricNames)
            throws IOException {
        this.version = version;
        this.oldMetricNames = oldMetricNames;
        this.clock = source.clock();
        this.memory = source.memory();
        KeeperClient keeper = new KeeperClient(addresses.keeperSocket(), KEEPER_TIMEOUT_MILLIS, clock);
        this.bypass = new BypassEndpoint(addresses.bypassSocket(), clock);
        this.volumes = new Volumes(source, keeper, addresses.accessLogs(), bypass);
        this.watchdog = new Watchdog(volumes::all, memory, clock);
        this.keeperWatch = KeeperWatch.start(keeper, volumes, clock);
        this.takeover = new Takeover(keeper, volumes, background, () -> ending, clock);
        this.control = new ControlServer(addresses.controlSocket(), this, new Directories(source));
        this.addresses = addresses;
        this.lead = LeaderLock.of(addresses.lead(), clock);
    }

    /**
     * Begins to serve what an earlier process served, then takes orders; while another process leads it gets ready and waits
     * for that one's end, however it comes.
     *
     * @throws IOException an address is taken
     */
    public static GatewayService start(FileSystemFactory source, Addresses addresses, String version, Mode mode)
            throws IOException {
        GatewayService service = new GatewayService(source, addresses, version, mode.oldMetricNames());
        boolean standby = mode.standby();
        service.watchdog.start();
        try {
            if (service.lead.tryTake()) {
                service.begin(standby);
            } else {
                Supervised.start("waiting", "Waiting for the lead", () -> service.waitForLead(standby));
            }
            return service;
        } catch (IOException | RuntimeException | Error e) {
            service.close();
            throw e;
        }
    }

    private void waitForLead(boolean standby) {
        try {
            if (!standby) {
                pagesIfFree();
            }
            Supervised.start("preparing", "Preparing for a takeover", this::prepare);
            lead.take();
            volumes.succeeds(clock.instant());
            begin(true);
        } catch (IOException | RuntimeException | Error e) {
            if (!ending) {
                failure =
                        e instanceof IOException cause ? cause : new IOException("this process cannot serve: " + e, e);
                ended.countDown();
            }
        }
    }

    private void prepare() {
        try {
            takeover.prepare();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** On one host with the process that leads, the address is that one's. */
    private void pagesIfFree() {
        try {
            HttpPages free = new HttpPages(addresses.http(), metricsPage(), this::ready, clock);
            pages = free;
            free.start();
        } catch (IOException e) {
            LOG.debug("The HTTP pages are not available yet", e);
        }
    }

    /**
     * First the sessions, which programs wait for; then all else.
     *
     * @param afterAnother whose addresses may not be free yet
     */
    private void begin(boolean afterAnother) throws IOException {
        leads = true;
        LOG.info("Leading: taking over the keeper's sessions");
        Supervised.start("takeover", "The takeover", takeover);
        try {
            takeover.awaitFirstTry(FIRST_TRY_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        StateFolder.checkAbove(addresses.controlSocket());
        control.start();
        if (pages == null) {
            openPages(afterAnother);
        }
        LOG.info("posix-gateway {} listens at {} and {}", version, addresses.controlSocket(), addresses.http());
        Supervised.start("connecting", "Connecting to Alluxio", volumes::connectEarly);
    }

    /** Where a process that was killed, and does not end, has their address, they come later: programs wait for the sessions alone. */
    private void openPages(boolean afterAnother) throws IOException {
        try {
            startPages(
                    afterAnother
                            ? HttpPages.inTurn(addresses.http(), metricsPage(), this::ready, clock)
                            : new HttpPages(addresses.http(), metricsPage(), this::ready, clock));
        } catch (IOException e) {
            if (ending || (takeover.done() && volumes.all().isEmpty() && volumes.refused() == 0)) {
                throw e;
            }
            LOG.error("Metrics and health pages are not available yet: {}; retrying", e.getMessage());
            Supervised.start("pages", "Opening the HTTP pages", this::openPagesLater);
        }
    }

    private void openPagesLater() {
        while (pages == null && !ending) {
            try {
                startPages(HttpPages.inTurn(addresses.http(), metricsPage(), this::ready, clock));
            } catch (IOException e) {
                LOG.warn("Metrics and health pages are not available yet: {}; retrying", e.getMessage());
            }
        }
    }

    private void startPages(HttpPages own) {
        pages = own;
        own.start();
    }

    private synchronized MetricsPage metricsPage() {
        MetricsPage page = metrics;
        if (page == null) {
            page = new MetricsPage(this, oldMetricNames);
            metrics = page;
        }
        return page;
    }

    @Override
    public List<ServedVolume> all() {
        return volumes.all();
    }

    @Override
    public ServedVolume named(String name) throws ServiceException {
        return volumes.named(name);
    }

    @Override
    public ServedVolume attach(AttachRequest request) throws ServiceException {
        return volumes.attach(request);
    }

    @Override
    public void detach(String name) throws ServiceException {
        volumes.detach(name);
    }

    @Override
    public long bypassStrangers() {
        return bypass.strangers();
    }

    @Override
    public int unkeptSessions() {
        return keeperWatch.unkept();
    }

    @Override
    public int refusedSessions() {
        return volumes.refused();
    }

    @Override
    public MemoryCounts memory() {
        return memory.counts();
    }

    @Override
    public String metrics() throws IOException {
        return metricsPage().text();
    }

    @Override
    public String version() {
        return version;
    }

    /** Is every session of the keeper served, or could it be at once; and is this process not ending? */
    @Override
    public boolean ready() {
        return (leads ? takeover.done() && volumes.refused() == 0 : takeover.prepared()) && !ending;
    }

    /** Leaves the volumes to the next process and lets {@link #awaitEnd} return; how many there were. */
    @Override
    public int drain() {
        ending = true;
        int count = volumes.drain();
        lead.close();
        ended.countDown();
        return count;
    }

    /**
     * Waits for {@link #drain}.
     *
     * @throws IOException this process should serve now, and cannot
     */
    public void awaitEnd() throws InterruptedException, IOException {
        ended.await();
        IOException cause = failure;
        if (cause != null) {
            throw cause;
        }
    }

    /** Drains and stops listening. Idempotent. */
    @Override
    public void close() {
        drain();
        keeperWatch.close();
        watchdog.close();
        bypass.close();
        HttpPages open = pages;
        if (open != null) {
            open.close();
        }
        control.close();
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
