package io.posixgateway.alluxio.service;

import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks after all volumes of a process, once a second, on a thread of its own that no request and no page can hold up. */
final class Watchdog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);
    private static final long PAUSE_MILLIS = 1000;

    private final Supplier<List<Volume>> volumes;
    private final Thread thread = new Thread(this::run, "watchdog");

    Watchdog(Supplier<List<Volume>> volumes) {
        this.volumes = volumes;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    private void run() {
        try {
            while (!thread.isInterrupted()) {
                Thread.sleep(PAUSE_MILLIS);
                lookAtAll();
            }
        } catch (InterruptedException e) {
            LOG.debug("The watchdog ends");
        }
    }

    private void lookAtAll() {
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
