package io.posixgateway.alluxio.service;

import io.posixgateway.fuse.time.Clock;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks after the memory and all volumes of a process, once a second, on a thread of its own that no request and no page can hold up. */
final class Watchdog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);
    private static final long PAUSE_NANOS = 1_000_000_000L;

    private final Supplier<List<Volume>> volumes;
    private final MemoryWatch memory;
    private final Clock clock;
    private final Thread thread = new Thread(this::run, "watchdog");

    Watchdog(Supplier<List<Volume>> volumes, MemoryWatch memory, Clock clock) {
        this.clock = clock;
        this.memory = memory;
        this.volumes = volumes;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    private void run() {
        try {
            while (!thread.isInterrupted()) {
                clock.sleep(PAUSE_NANOS);
                lookAtAll();
            }
        } catch (InterruptedException e) {
            LOG.debug("The watchdog ends");
        }
    }

    private void lookAtAll() {
        try {
            memory.look();
        } catch (RuntimeException e) {
            LOG.error("Looking after the memory failed", e);
        }
        for (Volume volume : volumes.get()) {
            try {
                volume.watch().look();
            } catch (RuntimeException e) {
                LOG.error("Looking after volume {} failed", volume.name(), e);
            }
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
