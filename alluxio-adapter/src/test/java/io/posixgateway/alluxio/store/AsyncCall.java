package io.posixgateway.alluxio.store;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What a program does while a test does something else. */
public final class AsyncCall {
    private static final long LIMIT_SECONDS = 60;

    private final FutureTask<Boolean> task;
    private final Thread thread;

    /** What it does. */
    @FunctionalInterface
    public interface Work {
        void run() throws Exception;
    }

    private AsyncCall(Work work) {
        task = new FutureTask<>(() -> {
            work.run();
            return true;
        });
        thread = new Thread(task, "program");
        thread.setDaemon(true);
    }

    public static AsyncCall start(Work work) {
        AsyncCall call = new AsyncCall(work);
        call.thread.start();
        return call;
    }

    public boolean isDone() {
        return task.isDone();
    }

    /** Its requests are sent by it. */
    public Thread thread() {
        return thread;
    }

    /** Returns when it is done, and throws what it failed with. */
    public void await() throws Exception {
        try {
            task.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof Exception failure) {
                throw failure;
            }
            throw new AssertionError(cause);
        } catch (TimeoutException e) {
            throw new AssertionError("not done within " + LIMIT_SECONDS + " s", e);
        }
    }

    /** The errno that it failed with, once it is done; 0: it did not. */
    public int awaitErrno() throws Exception {
        try {
            await();
            return 0;
        } catch (FuseFailure e) {
            return e.errno();
        }
    }
}
