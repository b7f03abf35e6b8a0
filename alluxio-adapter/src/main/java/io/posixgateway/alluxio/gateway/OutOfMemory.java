package io.posixgateway.alluxio.gateway;

/**
 * Ends the process when memory runs out: half of a server is worse than none, and a keeper makes its end harmless. The JVM
 * does so by itself for the heap; this is for what Java code throws, such as a want of direct memory.
 */
public final class OutOfMemory {
    /** The exit code, which is the JVM's own for this. */
    public static final int EXIT = 3;

    private OutOfMemory() {}

    /** From now on, for every thread that has no handler of its own. */
    public static void endsTheProcess() {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            System.err.println("Thread " + thread.getName() + " failed: " + failure);
            if (failure instanceof OutOfMemoryError) {
                System.err.println(
                        "out of memory, so the process ends; increase POSIX_GATEWAY_HEAP or POSIX_GATEWAY_DIRECT");
                Runtime.getRuntime().halt(EXIT);
            }
            failure.printStackTrace();
        });
    }
}
