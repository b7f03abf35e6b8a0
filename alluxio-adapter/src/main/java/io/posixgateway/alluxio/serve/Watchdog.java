package io.posixgateway.alluxio.serve;

import io.posixgateway.alluxio.gateway.MemoryWatch;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.time.Supervised;
import java.util.List;
import java.util.function.Supplier;

/**
 * Looks after the memory and all volumes of a process, once a second, on threads that no request and no page can hold up: the collector
 * holds up the one that looks after the memory. What fails with one volume, in whatever way, concerns no other, and not the next look.
 */
final class Watchdog implements AutoCloseable {
    private static final long PAUSE_NANOS = 1_000_000_000L;

    private final List<Thread> threads;

    Watchdog(Supplier<List<ServedVolume>> volumes, MemoryWatch memory, Clock clock) {
        threads = List.of(
                thread("memory-watch", clock, "Checking the memory", memory::look),
                thread("watchdog", clock, "Checking the volumes", () -> volumes.get()
                        .forEach(Watchdog::look)));
    }

    private static Thread thread(String name, Clock clock, String what, Runnable work) {
        Thread thread = new Thread(Supervised.periodically(clock, PAUSE_NANOS, what, work), name);
        thread.setDaemon(true);
        return thread;
    }

    private static void look(ServedVolume volume) {
        Supervised.run("Checking volume " + volume.name(), volume.watch()::look);
    }

    void start() {
        threads.forEach(Thread::start);
    }

    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
    }
}
