package io.posixgateway.fuse.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.metrics.CallerProcess.State;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What /proc says of a program that asks. */
class CallerProcessTest {
    private static final int EXITING = 0x40_0104;
    private static final int RUNNING = 0x40_0100;

    private final Path process;

    CallerProcessTest(@TempDir Path process) {
        this.process = process;
    }

    /** As proc_pid_stat(5) and proc_pid_status(5). */
    private void is(int flags, int exitCode, String pending) throws Exception {
        StringBuilder stat = new StringBuilder("4711 (a (b) c) D 1 4711 4711 0 -1 ").append(flags);
        stat.append(" 0".repeat(42)).append(' ').append(exitCode).append('\n');
        Files.writeString(process.resolve("stat"), stat);
        Files.writeString(
                process.resolve("status"),
                "Name:\ta\nUid:\t0\t0\t0\t1000\nGid:\t5\t6\t7\t1000680000\nGroups:\t4 27 4294967294 \nSigPnd:\t"
                        + pending + "\nShdPnd:\t0000000000000000\n");
    }

    private boolean killed(int flags, int exitCode, String pending) throws Exception {
        is(flags, exitCode, pending);
        return CallerProcess.state(process) == State.KILLED;
    }

    @Test
    void whoGotAFatalSignal_isKilled() throws Exception {
        assertThat(killed(RUNNING, 0, "0000000000000000")).isFalse();
        assertThat(killed(RUNNING, 0, "0000000000000002"))
                .as("SIGINT with a handler")
                .isFalse();
        assertThat(killed(RUNNING, 0, "0000000000000100")).isTrue();
        assertThat(killed(EXITING, 15, "0000000000000000")).isTrue();
        assertThat(killed(EXITING, 139, "0000000000000000")).as("with a core").isTrue();
        assertThat(killed(EXITING, 256, "0000000000000000")).as("exit(1)").isFalse();
    }

    /** The kernel shows such a signal as itself until the core is written, for which it waits. */
    @Test
    void whoseSignalLeavesACore_isKilledUnlessItHandlesIt() throws Exception {
        assertThat(killed(RUNNING, 0, "0000000000000004")).as("SIGQUIT").isTrue();
        for (String field : List.of("SigBlk", "SigIgn", "SigCgt")) {
            is(RUNNING, 0, "0000000000000004");
            Files.writeString(process.resolve("status"), field + ":\t0000000000000004\n", StandardOpenOption.APPEND);
            assertThat(CallerProcess.state(process)).as(field).isEqualTo(State.LIVES);
        }
    }

    @Test
    void whatCannotBeSeen_isUnseen() throws Exception {
        assertThat(CallerProcess.state(process)).isEqualTo(State.UNSEEN);
        Files.writeString(process.resolve("stat"), "4711 (a) D\n");
        assertThat(CallerProcess.state(process)).isEqualTo(State.UNSEEN);
        assertThat(CallerProcess.state(0)).isEqualTo(State.UNSEEN);
        assertThat(CallerProcess.state((int) ProcessHandle.current().pid())).isEqualTo(State.LIVES);
    }

    @Test
    void groups_areThoseOfTheProgram() throws Exception {
        is(RUNNING, 0, "0");
        assertThat(CallerProcess.isInGroup(process, 27)).isTrue();
        assertThat(CallerProcess.isInGroup(process, -2)).isTrue();
        assertThat(CallerProcess.isInGroup(process, 2)).isFalse();
        assertThat(CallerProcess.isInGroup(process.resolve("none"), 27)).isFalse();
        assertThat(CallerProcess.isInGroup(process, 1_000_680_000))
                .as("by which it reaches files")
                .isTrue();
        assertThat(CallerProcess.isInGroup(process, 5)).as("its real group").isFalse();
    }

    @Test
    void root_isWhoReachesFilesAsRoot() throws Exception {
        is(RUNNING, 0, "0");
        assertThat(CallerProcess.isRoot(process)).isFalse();
        Files.writeString(process.resolve("status"), "Name:\ta\nUid:\t1000\t1000\t1000\t0\n");
        assertThat(CallerProcess.isRoot(process)).isTrue();
        assertThat(CallerProcess.isRoot(process.resolve("none"))).isFalse();
        assertThat(CallerProcess.isRoot(0)).as("in another pid namespace").isFalse();
    }
}
