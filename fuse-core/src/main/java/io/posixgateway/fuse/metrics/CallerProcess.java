package io.posixgateway.fuse.metrics;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What /proc says of a program that asks. Reads a file or two that the kernel makes up; any thread. */
public final class CallerProcess {
    private static final long KILL_BIT = 1L << 8;
    /** The signals of signal(7) that end a program with a core: QUIT, ILL, TRAP, ABRT, BUS, FPE, SEGV, XCPU, XFSZ, SYS. */
    private static final long CORE_BITS = 0x4180_04fcL;

    private static final int EXITING = 4;
    private static final int SIGNAL_MASK = 0x7f;
    /** Fields of stat behind the name, counted from the state on. */
    private static final int FLAGS_FIELD = 6;

    private static final int EXIT_CODE_FIELD = 49;
    /** Of the four ids that status shows of a user and a group: the one that counts for files. */
    private static final int FILE_SYSTEM_ID = 3;

    private CallerProcess() {}

    /** What can be seen of a program that waits. */
    public enum State {
        LIVES,
        KILLED,
        /** It is in another PID namespace, or has ended. */
        UNSEEN
    }

    /**
     * Whether this thread of a program is dying of a signal: then a fatal one is pending, which the kernel shows as SIGKILL whichever
     * it was, or as itself where it is to leave a core; or it is on its way out with a signal for its end. One that exits by itself lives.
     */
    public static State state(int pid) {
        return pid > 0 ? state(Path.of("/proc", String.valueOf(pid))) : State.UNSEEN;
    }

    /** Is the group among those of this thread of a program? False where nothing can be seen. */
    public static boolean isInGroup(int pid, int group) {
        return pid > 0 && isInGroup(Path.of("/proc", String.valueOf(pid)), group);
    }

    /** Does this thread of a program reach files as root? False where nothing can be seen. */
    public static boolean isRoot(int pid) {
        return pid > 0 && isRoot(Path.of("/proc", String.valueOf(pid)));
    }

    static boolean isInGroup(Path process, int group) {
        String wanted = Integer.toUnsignedString(group);
        try {
            String status = text(process.resolve("status"));
            return ids(status, "Groups:").anyMatch(wanted::equals)
                    || ids(status, "Gid:").skip(FILE_SYSTEM_ID).anyMatch(wanted::equals);
        } catch (IOException e) {
            return false;
        }
    }

    static boolean isRoot(Path process) {
        try {
            return ids(text(process.resolve("status")), "Uid:")
                    .skip(FILE_SYSTEM_ID)
                    .anyMatch("0"::equals);
        } catch (IOException e) {
            return false;
        }
    }

    private static Stream<String> ids(String status, String name) {
        return status.lines()
                .filter(line -> line.startsWith(name))
                .flatMap(line -> Stream.of(line.substring(name.length()).trim().split("\\s", -1)));
    }

    static State state(Path process) {
        try {
            boolean killed = dies(text(process.resolve("stat"))) || isToDie(text(process.resolve("status")));
            return killed ? State.KILLED : State.LIVES;
        } catch (IOException | RuntimeException e) {
            return State.UNSEEN;
        }
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    }

    private static boolean dies(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).trim().split(" ", -1);
        boolean exits = (Long.parseLong(fields[FLAGS_FIELD]) & EXITING) != 0;
        return exits && (Integer.parseInt(fields[EXIT_CODE_FIELD]) & SIGNAL_MASK) != 0;
    }

    private static boolean isToDie(String status) {
        long pending = signals(status, "SigPnd:") | signals(status, "ShdPnd:");
        long kept = signals(status, "SigBlk:") | signals(status, "SigIgn:") | signals(status, "SigCgt:");
        return (pending & KILL_BIT) != 0 || (pending & ~kept & CORE_BITS) != 0;
    }

    /** A set of signals; empty where the kernel shows none of this name. */
    private static long signals(String status, String name) {
        return status.lines()
                .filter(line -> line.startsWith(name))
                .mapToLong(line ->
                        Long.parseUnsignedLong(line.substring(name.length()).trim(), 16))
                .findFirst()
                .orElse(0);
    }
}
