package io.posixgateway.fuse.conformance;

import static java.util.stream.Collectors.joining;

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

    /** What each thread does, for the text of a failure. */
    public static String all() {
        return Thread.getAllStackTraces().entrySet().stream()
                .map(thread -> thread.getKey() + " " + thread.getKey().getState() + "\n  "
                        + Stream.of(thread.getValue())
                                .map(StackTraceElement::toString)
                                .collect(joining("\n  ")))
                .collect(joining("\n"));
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
