package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.time.Supervised;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Has the slots of all sessions give back, every few seconds, the memory that they did not need since. One thread for all. */
final class RestingSlots {
    private static final long PERIOD_SECONDS = 10;
    private static final Set<MessageSlots> ALL = ConcurrentHashMap.newKeySet();
    private static final ScheduledThreadPoolExecutor TIMER = timer();

    private RestingSlots() {}

    @SuppressWarnings("FutureReturnValueIgnored") // it is never over
    private static ScheduledThreadPoolExecutor timer() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "fuse-slots-rest");
            thread.setDaemon(true);
            return thread;
        });
        timer.scheduleWithFixedDelay(RestingSlots::look, PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
        return timer;
    }

    private static void look() {
        for (MessageSlots slots : ALL) {
            Supervised.run("Giving back the memory of slots", slots::rest);
        }
    }

    static void add(MessageSlots slots) {
        assert !TIMER.isShutdown();
        ALL.add(slots);
    }

    static void remove(MessageSlots slots) {
        ALL.remove(slots);
    }
}
