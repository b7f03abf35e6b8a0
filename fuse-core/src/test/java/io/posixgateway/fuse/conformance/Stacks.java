package io.posixgateway.fuse.conformance;

import java.util.stream.Stream;

/**
 * Where threads of this process are, by their stacks. A thread's state does not say what it waits for: a test that has to know asks
 * for the method that waits.
 */
public final class Stacks {
    private Stacks() {}

    /** How many threads are in this method, or in what it calls. */
    public static long threadsIn(Class<?> type, String method) {
        return Thread.getAllStackTraces().values().stream()
                .filter(frames -> has(frames, type, method))
                .count();
    }

    /** Is this thread there? */
    public static boolean isIn(Thread thread, Class<?> type, String method) {
        return has(thread.getStackTrace(), type, method);
    }

    private static boolean has(StackTraceElement[] frames, Class<?> type, String method) {
        return Stream.of(frames)
                .anyMatch(frame -> frame.getClassName().equals(type.getName())
                        && frame.getMethodName().equals(method));
    }
}
