package io.posixgateway.alluxio.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.simulation.Step.Crash;
import io.posixgateway.alluxio.simulation.Step.Fault;
import io.posixgateway.alluxio.simulation.Step.Kind;
import io.posixgateway.alluxio.simulation.Step.Next;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.WriteType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Random programs of two mounts and another client, killed and begun again at any boundary between two calls.
 *
 * <p>{@code -Dpgw.sim.seed=N} repeats one; {@code -Dpgw.sim.steps=N} takes seeds that nobody chose until so many steps are done.
 */
class SimulationTest {
    private static final Logger LOG = LoggerFactory.getLogger(SimulationTest.class);
    private static final long SEEDS = 120;
    /** Of the seeds that nobody chose, one in so many has each of its boundaries tried, too. */
    private static final long SWEPT = 200;

    private static final int SWEPT_STEPS = 6;

    private final Simulation simulation;

    SimulationTest(@TempDir Path folder) {
        this.simulation = new Simulation(folder);
    }

    @Test
    void program_ofAnySeed_losesNothing() {
        Long seed = Long.getLong("pgw.sim.seed");
        long steps = Long.getLong("pgw.sim.steps", 0);
        if (seed != null) {
            simulation.check(Program.of(seed));
        } else if (steps > 0) {
            many(steps);
        } else {
            for (long fixed = 1; fixed <= SEEDS; fixed++) {
                simulation.check(Program.of(fixed));
            }
            assertThat(simulation.steps()).isGreaterThan(SEEDS);
        }
    }

    private void many(long steps) {
        long first = System.nanoTime() & 0xffff_ffffL;
        LOG.info("The first seed is {}", first);
        for (long seed = first; simulation.steps() < steps; seed++) {
            simulation.check(Program.of(seed));
            if (seed % SWEPT == 0) {
                simulation.checkEachBoundary(Program.plain(seed, SWEPT_STEPS));
            }
        }
        LOG.info("{} steps in {} programs, {} is the first seed", simulation.steps(), simulation.runs(), first);
    }

    private static Step create(Fault fault) {
        return new Step(0, Kind.CREATE, 0, "/f", "", 0, 0, 0, fault, null, null);
    }

    /**
     * Each showed a fault once: a file was committed when its length was set after a takeover, before its program closed it; an incomplete
     * file hid what was renamed over it when the master died, stayed after a close without a master, or was looked for too soon; what a
     * worker undid of a synced file stayed undone while that was open; a file that was deleted while it was open stayed where another mount
     * had moved it.
     */
    @ParameterizedTest
    @ValueSource(
            longs = {
                4_048_519_999L,
                2_154_992_222L,
                4_003_176_460L,
                1_411_157_057L,
                4_250_620_187L,
                670_141_568L,
                3_498_686_883L
            })
    void program_thatFoundAFault_losesNothing(long seed) {
        simulation.check(Program.ofContents(seed));
    }

    /**
     * The same of attributes and whole files: with {@code metadata_ttl=0} no mount appended to a file that it had not written; a time that
     * the other mount gave after an fsync was undone by a close; the next process did not find a new file whose name was given up for a
     * rename over it, and that file's close replaced the renamed one; a close failed after an unlink whose answer was lost, and where a
     * worker wrote late to a name that Alluxio took for free.
     */
    @ParameterizedTest
    @ValueSource(longs = {12, 30_391, 200_223, 3_695_533_908L, 11_271})
    void program_withAttributesThatFoundAFault_losesNothing(long seed) {
        simulation.check(Program.of(seed));
    }

    /** What becomes of a file that another mount is writing is not laid down, for a request that is sent again neither. */
    @Test
    void rename_sentAgainWhenAnotherMountIsMakingTheFile_mayFail() {
        Crash crash = new Crash(0, true, Next.KEPT, 2, false);
        Step rename = new Step(0, Kind.RENAME, 0, "/f", "/a/f", 0, 0, 0, null, crash, null);
        Step create = new Step(1, Kind.CREATE, 1, "/f", "", 0, 0, 0, null, null, null);
        simulation.check(
                new Program(0, MemoryUfs.Kind.LOCAL, WriteType.CACHE_THROUGH, "0", false, List.of(rename, create)));
    }

    /** Another mount removes the file just before it is made, as far as anyone can tell: its content may not be stored. */
    @Test
    void create_whileAnotherMountUnlinksTheFile_mayLoseIt() {
        Step create = new Step(1, Kind.CREATE, 0, "/b/f", "", 0, 0, 0, null, null, null);
        Step.Meanwhile meanwhile = new Step.Meanwhile(StoreCall.STATUS, 1, create);
        Step unlink = new Step(0, Kind.UNLINK, 1, "/b/f", "", 0, 0, 0, null, null, meanwhile);
        simulation.check(new Program(0, MemoryUfs.Kind.LOCAL, WriteType.CACHE_THROUGH, "0", false, List.of(unlink)));
    }

    /** The incomplete file was in everyone's way until the mount made another. */
    @Test
    void creation_whoseAnswerIsLost_leavesNothing() {
        Fault lost = new Fault(StoreCall.CREATE, 1, Fault.How.LOSE_ANSWER);
        simulation.check(
                new Program(0, MemoryUfs.Kind.LOCAL, WriteType.CACHE_THROUGH, "0", false, List.of(create(lost))));
    }
}
