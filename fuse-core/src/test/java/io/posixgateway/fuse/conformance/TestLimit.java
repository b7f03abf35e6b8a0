package io.posixgateway.fuse.conformance;

import io.posixgateway.fuse.time.Clock;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Ends a class of tests that hangs, and names it. JUnit finds this by META-INF/services; {@code make test} gives the limit in minutes
 * ({@code TEST_LIMIT}), and without that there is none: long forms of tests take as long as they are told to.
 */
public final class TestLimit implements BeforeAllCallback, BeforeEachCallback {
    private static final String PROPERTY = "pgw.test.limit";
    private static final int EXIT_STATUS = 70;
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(TestLimit.class);

    @Override
    public void beforeAll(ExtensionContext context) {
        int minutes = Integer.getInteger(PROPERTY, 0);
        if (minutes > 0) {
            Watch watch = new Watch(
                    context.getRequiredTestClass().getName(), Duration.ofMinutes(minutes), Clock.system(), System.err);
            watch.start(() -> System.exit(EXIT_STATUS));
            context.getStore(NAMESPACE).put(Watch.class, watch); // which closes it after the class
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        Watch watch = context.getStore(NAMESPACE).get(Watch.class, Watch.class);
        if (watch != null) {
            watch.test = context.getDisplayName();
        }
    }

    /**
     * Of one class, made by the thread that runs it. When the limit is over, all threads are printed and that thread is interrupted, once;
     * what does not end by that within a minute ends the JVM, which lets go of its mounts.
     */
    static final class Watch implements AutoCloseable {
        private static final Duration GRACE = Duration.ofMinutes(1);

        private final String name;
        private final Duration limit;
        private final Clock clock;
        private final PrintStream out;
        private final Thread runs = Thread.currentThread();
        private final CountDownLatch over = new CountDownLatch(1);
        private volatile String test = "its start";

        Watch(String name, Duration limit, Clock clock, PrintStream out) {
            this.name = name;
            this.limit = limit;
            this.clock = clock;
            this.out = out;
        }

        /** @param end ends the JVM */
        void start(Runnable end) {
            Thread thread = new Thread(() -> watch(end), "test-limit");
            thread.setDaemon(true);
            thread.start();
        }

        private void watch(Runnable end) {
            try {
                if (clock.await(over, limit.toNanos()) || !interrupted()) {
                    return;
                }
                if (!clock.await(over, GRACE.toNanos())) {
                    out.println("TEST_LIMIT: " + name + " goes on all the same, and is ended");
                    end.run();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** False: it was over just then. */
        private synchronized boolean interrupted() {
            if (over.getCount() == 0) {
                return false;
            }
            out.println("TEST_LIMIT: " + name + " hangs: not over after " + limit.toMinutes() + " minutes, in " + test);
            Thread.getAllStackTraces().forEach((thread, frames) -> {
                out.println(thread.getName() + " " + thread.getState());
                for (StackTraceElement frame : frames) {
                    out.println("    at " + frame);
                }
            });
            runs.interrupt();
            return true;
        }

        @Override
        public synchronized void close() {
            over.countDown();
        }
    }
}
