package io.posixgateway.alluxio.client;

import alluxio.shaded.client.io.grpc.internal.GrpcUtil;
import alluxio.shaded.client.io.grpc.internal.SharedResourceHolder;
import io.posixgateway.fuse.jni.UnpinnedThread;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The threads on which gRPC, inside Alluxio's client, takes answers and opens connections. Any thread.
 *
 * <p>gRPC's own pool starts a thread whenever a task leaves none idle, so a burst of first calls makes a dozen that have little
 * to do. Here tasks wait for one of as many threads as there are CPUs. Some tasks wait themselves, as the one that looks a
 * host up does: when none has ended for {@link #PATIENCE_MILLIS} while others wait, one more thread is started, and so on.
 */
final class RpcExecutor implements Executor {
    static final int PATIENCE_MILLIS = 250;
    private static final int FEWEST = 2;
    private static final int MAX = 64;
    private static final int IDLE_SECONDS = 10;

    private static boolean bounded;

    private final int usual;
    private final ThreadPoolExecutor pool;
    private final ScheduledThreadPoolExecutor looks;
    private final AtomicBoolean looking = new AtomicBoolean();

    /** @param usual so many threads as long as tasks end */
    RpcExecutor(int usual) {
        this(usual, Duration.ofSeconds(IDLE_SECONDS));
    }

    /** @param idle a thread that had nothing to do for so long ends */
    RpcExecutor(int usual, Duration idle) {
        this.usual = usual;
        this.pool = new ThreadPoolExecutor(
                usual,
                MAX,
                idle.toMillis(),
                TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(),
                daemons("alluxio-answers"));
        pool.allowCoreThreadTimeOut(true);
        this.looks = new ScheduledThreadPoolExecutor(1, daemons("alluxio-answers-watch"));
        looks.setKeepAliveTime(idle.toMillis(), TimeUnit.MILLISECONDS);
        looks.allowCoreThreadTimeOut(true);
    }

    private static ThreadFactory daemons(String name) {
        return task -> new UnpinnedThread(task, name);
    }

    /**
     * Once for the process, before the first connection: what gRPC's own pool has no idle thread for comes here. Where that
     * pool is of another kind, all stays as it is.
     */
    static synchronized void bound() {
        if (bounded) {
            return;
        }
        bounded = true;
        Executor shared = SharedResourceHolder.get(GrpcUtil.SHARED_CHANNEL_EXECUTOR);
        if (shared instanceof ThreadPoolExecutor own) {
            RpcExecutor answers = new RpcExecutor(
                    Math.min(MAX, Math.max(FEWEST, Runtime.getRuntime().availableProcessors())));
            own.setRejectedExecutionHandler((task, full) -> answers.execute(task));
            own.setMaximumPoolSize(1);
        }
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
        lookLater();
    }

    private void lookLater() {
        if (!pool.getQueue().isEmpty() && looking.compareAndSet(false, true)) {
            long ended = pool.getCompletedTaskCount();
            var unused = looks.schedule(() -> look(ended), PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Starts another thread if no task has ended since; back to the usual number when none waits. */
    private void look(long endedBefore) {
        looking.set(false);
        if (pool.getQueue().isEmpty()) {
            pool.setCorePoolSize(usual);
        } else if (pool.getCompletedTaskCount() == endedBefore) {
            pool.setCorePoolSize(Math.min(MAX, pool.getCorePoolSize() + 1));
        }
        lookLater();
    }

    /** How many there are now. */
    int threads() {
        return pool.getPoolSize();
    }
}
