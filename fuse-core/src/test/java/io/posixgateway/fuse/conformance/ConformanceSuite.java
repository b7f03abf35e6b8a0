package io.posixgateway.fuse.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;

/** Runs every conformance case in a directory, and makes each verdict a test. */
public final class ConformanceSuite {
    private static final int SECONDS = 240;
    private static final String SCRIPT = "suite.py";

    private ConformanceSuite() {}

    /**
     * Runs all cases now; the tests hold the verdicts, so that the file system may be unmounted before they run.
     *
     * @param directory on the file system, writable, empty
     * @param exceptions cases that this file system does not keep, with the reason; one that passes after all fails its test
     */
    public static List<DynamicTest> run(Path directory, Map<String, String> exceptions)
            throws IOException, InterruptedException {
        return run(List.of(), List.of("python3", SCRIPT), directory, exceptions);
    }

    /** The same cases with fewer names in their directories, for a file system on which each new file is slow. */
    public static List<DynamicTest> runShort(Path directory, Map<String, String> exceptions)
            throws IOException, InterruptedException {
        return runShort(List.of(), directory, exceptions);
    }

    /** @param before words that the command begins with, such as "env" and variables */
    public static List<DynamicTest> runShort(List<String> before, Path directory, Map<String, String> exceptions)
            throws IOException, InterruptedException {
        return run(before, List.of("python3", SCRIPT, "--short"), directory, exceptions);
    }

    private static List<DynamicTest> run(
            List<String> before, List<String> command, Path directory, Map<String, String> exceptions)
            throws IOException, InterruptedException {
        List<DynamicTest> tests = new ArrayList<>();
        TreeSet<String> unknown = new TreeSet<>(exceptions.keySet());
        String printed;
        try (Scripts scripts = new Scripts()) {
            List<String> words = new ArrayList<>(before);
            for (String word : command) {
                words.add(word.equals(SCRIPT) ? scripts.path(SCRIPT) : word);
            }
            words.add(directory.toString());
            printed = Command.run(SECONDS, words.toArray(String[]::new));
        }
        for (String line : printed.lines().toList()) {
            String[] words = line.split(" ", 3);
            String exception = exceptions.get(words[1]);
            unknown.remove(words[1]);
            tests.add(dynamicTest(words[1], () -> judge(line, words, exception)));
        }
        tests.add(dynamicTest(
                "every exception names a case", () -> assertThat(unknown).isEmpty()));
        tests.add(dynamicTest("every case was run", () -> assertThat(tests).hasSizeGreaterThan(85)));
        return tests;
    }

    /** "ok NAME", "skip NAME REASON" or "not-ok NAME REASON". */
    private static void judge(String line, String[] words, @Nullable String exception) {
        if (words[0].equals("skip")) {
            abort(words[2]);
        } else if (exception == null) {
            assertThat(line).isEqualTo("ok " + words[1]);
        } else if (words[0].equals("ok")) {
            throw new AssertionError("passes, and is declared an exception: " + exception);
        } else {
            abort("declared exception: " + exception);
        }
    }
}
