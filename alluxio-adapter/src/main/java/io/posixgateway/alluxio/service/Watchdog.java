package io.posixgateway.alluxio.service;

import io.posixgateway.fuse.time.Clock;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after the memory and all volumes of a process, once a second, on threads that no request and no page can hold up: the collector
 * holds up the one that looks after the memory.
 */
final class Watchdog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);
    private static final long PAUSE_NANOS = 1_000_000_000L;

    private final Supplier<List<Volume>> volumes;
    private final MemoryWatch memory;
    private final Clock clock;
    private final List<Thread> threads = List.of(
            new Thread(() -> run(this::lookAtMemory), "memory-watch"),
            new Thread(() -> run(this::lookAtVolumes), "watchdog"));

    Watchdog(Supplier<List<Volume>> volumes, MemoryWatch memory, Clock clock) {
        this.clock = clock;
        this.memory = memory;
        this.volumes = volumes;
        threads.forEach(thread -> thread.setDaemon(true));
    }

    void start() {
        threads.forEach(Thread::start);
    }

    private void run(Runnable look) {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                clock.sleep(PAUSE_NANOS);
                look.run();
            }
        } catch (InterruptedException e) {
            LOG.debug("The watchdog stopped");
        }
    }

    private void lookAtMemory() {
        try {
            memory.look();
        } catch (RuntimeException e) {
            LOG.error("Checking the memory failed", e);
        }
    }

    private void lookAtVolumes() {
        for (Volume volume : volumes.get()) {
            try {
                volume.watch().look();
            } catch (RuntimeException e) {
                LOG.error("Checking volume {} failed", volume.name(), e);
            }
        }
    }

    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
    }
}
