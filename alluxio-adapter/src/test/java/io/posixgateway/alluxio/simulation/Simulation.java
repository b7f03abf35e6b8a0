package io.posixgateway.alluxio.simulation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs programs, and makes those that fail shorter. For one thread. */
final class Simulation {
    private static final int MAX_ROUNDS = 4;
    private static final int MAX_CALLS = 1000;

    private final Path folder;
    private int runs;
    private long steps;
    private int kills;

    /** @param folder for what the nodes keep */
    Simulation(Path folder) {
        this.folder = folder;
    }

    /** Steps done so far. */
    long steps() {
        return steps;
    }

    int runs() {
        return runs;
    }

    /** Null: all that must hold does. */
    @Nullable
    Violation run(Program program) {
        Path own = folder.resolve("run-" + ++runs);
        try {
            for (int i = 0; i < Program.MOUNTS; i++) {
                Files.createDirectories(own.resolve("node-" + i));
            }
            try (World world = new World(program, own)) {
                steps += world.run();
                kills = world.kills();
                return null;
            } catch (Violation e) {
                return e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            remove(own);
        }
    }

    private static void remove(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @throws AssertionError with the seed, and the shortest program found that fails in some way */
    void check(Program program) {
        Violation violation = run(program);
        if (violation == null) {
            return;
        }
        Program shortest = shortened(program);
        Violation last = run(shortest);
        throw new AssertionError(
                "The simulation finds a fault; -Dpgw.sim.seed=" + program.seed() + " repeats it.\n" + shortest + "\n"
                        + (last == null ? "(not repeated: " + violation.getMessage() + ")" : last.getMessage()),
                last == null ? violation : last);
    }

    /** The program, and its process killed at each boundary between two calls of each step, with each kind of next process. */
    void checkEachBoundary(Program program) {
        check(program);
        for (Step step : program.steps()) {
            for (Step.Next next : Step.Next.values()) {
                for (int calls = 0; isKilled(program, step, calls, next); calls++) {
                    assert calls < MAX_CALLS : "a step has an end";
                }
            }
        }
    }

    private boolean isKilled(Program program, Step step, int calls, Step.Next next) {
        boolean killed = false;
        for (boolean heard : calls == 0 ? List.of(true) : List.of(false, true)) {
            Step.Crash crash = new Step.Crash(calls, heard, next, 0, false);
            kills = 0;
            if (step.actor() != Step.OUTSIDER) {
                check(program.with(program.steps().indexOf(step), step.with(null, crash, null)));
            }
            killed |= kills > 0;
        }
        return killed;
    }

    private Program shortened(Program program) {
        Program shortest = program;
        for (int round = 0; round < MAX_ROUNDS; round++) {
            Program before = shortest;
            for (int i = shortest.steps().size() - 1; i >= 0; i--) {
                Program without = shortest.without(i);
                Program calm = shortest.with(i, shortest.steps().get(i).calm());
                if (run(without) != null) {
                    shortest = without;
                } else if (!calm.equals(shortest) && run(calm) != null) {
                    shortest = calm;
                }
            }
            if (before.equals(shortest)) {
                break;
            }
        }
        return shortest;
    }
}
