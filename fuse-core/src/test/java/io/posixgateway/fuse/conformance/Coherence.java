package io.posixgateway.fuse.conformance;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Programs of which one reads what another writes on the same mount. Each fails with what was seen. */
public final class Coherence {
    private static final int LIMIT_SECONDS = 240;
    private static final int PROCESSES = 4;
    /** Whatever the time: as many files at the same time. */
    private static final int FOLLOWED = 2;

    private static final int ENDLESS = 1_000_000;

    private Coherence() {}

    /** Random changes by several processes, compared with models by each. */
    public static void random(Path directory, long seed, int seconds) throws IOException, InterruptedException {
        run(seconds, "coherence.py", directory.toString(), "" + seed, "" + seconds, "" + PROCESSES);
    }

    /** Files that are followed while others append to them: as many as fit into the time. */
    public static void following(Path directory, int seconds) throws IOException, InterruptedException {
        run(seconds, "follow.py", directory.toString(), "" + ENDLESS, "" + FOLLOWED, "" + seconds);
    }

    /** The same, so many files. */
    public static void followingFiles(Path directory, int files) throws IOException, InterruptedException {
        run(files, "follow.py", directory.toString(), "" + files, "" + FOLLOWED);
    }

    /**
     * Something is done to a file whose writer waits for the file system, see {@link WriteGate}.
     *
     * @param what read, stat or open
     */
    public static void overlapping(Path file, String what) throws IOException, InterruptedException {
        run(0, "overlap.py", file.toString(), what);
    }

    private static void run(int more, String script, String... arguments) throws IOException, InterruptedException {
        try (Scripts scripts = new Scripts()) {
            List<String> words = new ArrayList<>(List.of("python3", scripts.path(script)));
            words.addAll(Arrays.asList(arguments));
            System.out.print(Command.run(LIMIT_SECONDS + more, words.toArray(String[]::new)));
        }
    }
}
