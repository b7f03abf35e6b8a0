package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.store.StoreCall;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One thing that happens in a simulation. What it refers to is found when it is done, so that a program without some of its steps is one,
 * too.
 *
 * @param number in the program; what it writes, and the file that it makes, is known by it
 * @param actor the mount; {@link #OUTSIDER}: another client of Alluxio
 * @param path of a file or a directory
 * @param other of a rename: the new path
 * @param slot the descriptor of the mount that it uses, or opens
 * @param offset of what is written, or the length of a truncated file
 * @param count bytes that are written
 * @param fault what befalls a call meanwhile; null: nothing
 * @param crash where the mount's process is killed meanwhile; null: it lives
 * @param meanwhile what the other mount does between two of its calls; null: nothing
 */
record Step(
        int number,
        Kind kind,
        int actor,
        String path,
        String other,
        int slot,
        int offset,
        int count,
        @Nullable Fault fault,
        @Nullable Crash crash,
        @Nullable Meanwhile meanwhile) {
    static final int OUTSIDER = -1;
    private static final int FIRST_VALUE = 1000;

    enum Kind {
        CREATE,
        OPEN,
        WRITE,
        TRUNCATE,
        FSYNC,
        CLOSE,
        READ,
        RENAME,
        RENAME_DIRECTORY,
        UNLINK,
        MKDIR,
        RMDIR,
        CHMOD,
        CHOWN,
        /** Sets the time of the last change of the content. */
        UTIMENS,
        SETXATTR,
        REMOVEXATTR,
        /** Of a file that is not open. */
        TRUNCATE_PATH,
        /** As {@code echo text >> path}. */
        APPEND,
        STAT,
        /** The worker that files are written through stops to answer, and goes on later. */
        STOP_WORKER,
        RESUME_WORKER,
        /** Alluxio begins anew over the same under file system. */
        FORMAT
    }

    /** What befalls the n-th call of this kind. */
    record Fault(StoreCall call, int nth, How how) {
        enum How {
            LOSE_ANSWER,
            LOSE_REQUEST,
            FAIL,
            NO_SPACE,
            SLOW,
            MASTER_DIES_IN_THE_COPY,
            MASTER_DIES_BEFORE_THE_JOURNAL,
            MASTER_DIES_AFTER_THE_COPY,
            MASTER_AWAY
        }

        @Override
        public String toString() {
            return " {" + call + " " + nth + ": " + how + "}";
        }
    }

    /** What the next process of the node has to go on with. */
    enum Next {
        /** The kernel's session and the volume's folder. */
        KEPT,
        /** The volume's folder. */
        RETURNED,
        /** The volume's folder, of which some was not on the disk when the power was lost. */
        POWER_LOST,
        /** Nothing: it is another node. */
        GONE
    }

    /**
     * @param calls so many are sent before
     * @param heard did it hear of the last one, and do what it does then?
     * @param later after so many more steps its next process begins
     * @param away is Alluxio away then, for a while?
     */
    record Crash(int calls, boolean heard, Next next, int later, boolean away) {
        /** The same, but the node stays, with its disk. */
        Crash withDisk() {
            boolean lost = next == Next.GONE || next == Next.POWER_LOST;
            return lost ? new Crash(calls, heard, Next.KEPT, later, away) : this;
        }

        @Override
        public String toString() {
            return " {killed after " + calls + (heard ? "" : " unheard") + ", " + next
                    + (later == 0 ? "" : " after " + later) + (away ? ", Alluxio away" : "") + "}";
        }
    }

    /** Before the n-th call of this kind the other mount does this; null: between the n-th request and the next. */
    record Meanwhile(@Nullable StoreCall call, int nth, Step step) {
        @Override
        public String toString() {
            return (call == null ? " {after request " : " {before " + call + " ") + nth + ":" + step + "}";
        }
    }

    Step with(@Nullable Fault otherFault, @Nullable Crash otherCrash, @Nullable Meanwhile otherMeanwhile) {
        return new Step(number, kind, actor, path, other, slot, offset, count, otherFault, otherCrash, otherMeanwhile);
    }

    Step by(int otherActor) {
        return new Step(number, kind, otherActor, path, other, slot, offset, count, fault, crash, meanwhile);
    }

    Step as(Kind otherKind) {
        return new Step(number, otherKind, actor, path, other, slot, offset, count, fault, crash, meanwhile);
    }

    /** What it changes, as {@link FileAttributes} has it. */
    Map<String, String> attributes() {
        return switch (kind) {
            case CHMOD -> modes();
            case CHOWN -> Map.of(FileAttributes.OWNER, value());
            case UTIMENS -> Map.of(FileAttributes.MODIFIED, value());
            case SETXATTR -> Map.of(Program.XATTRS.get(slot), value());
            case REMOVEXATTR -> Map.of(Program.XATTRS.get(slot), "");
            default -> Map.of();
        };
    }

    /** Alluxio itself has permissions only. */
    private Map<String, String> modes() {
        Map<String, String> modes = FileAttributes.ofMode(mode());
        return actor == OUTSIDER ? Map.of(FileAttributes.PERMISSIONS, modes.get(FileAttributes.PERMISSIONS)) : modes;
    }

    /** A number, of which there is one only. */
    String value() {
        return String.valueOf(FIRST_VALUE + number);
    }

    /** All kinds of bits that a write takes from no file. */
    int mode() {
        return 0400 | (number % 2 << 9) | (number * 5 & 0377);
    }

    /** Does it change nothing but attributes of a file? */
    boolean gives() {
        return !attributes().isEmpty();
    }

    /** Does it replace a file by its path? */
    boolean replaces() {
        return kind == Kind.APPEND || kind == Kind.TRUNCATE_PATH;
    }

    boolean opens() {
        return kind == Kind.CREATE || kind == Kind.OPEN;
    }

    Step calm() {
        return with(null, null, null);
    }

    String data() {
        return (number + ".").repeat(count).substring(0, count);
    }

    @Override
    public String toString() {
        String what =
                switch (kind) {
                    case CREATE, OPEN -> slot + " = " + path;
                    case WRITE -> slot + " " + count + " at " + offset;
                    case CHMOD, CHOWN, UTIMENS, SETXATTR, REMOVEXATTR -> path + " " + attributes();
                    case TRUNCATE_PATH -> path + " to " + offset;
                    case TRUNCATE -> slot + " to " + offset;
                    case FSYNC, CLOSE -> "" + slot;
                    case RENAME, RENAME_DIRECTORY -> path + " " + other;
                    case STOP_WORKER, RESUME_WORKER, FORMAT -> "";
                    default -> path;
                };
        String who = actor == OUTSIDER ? "outsider" : "mount " + actor;
        return String.format("%3d %s: %s %s", number, who, kind, what)
                + (fault == null ? "" : fault)
                + (crash == null ? "" : crash)
                + (meanwhile == null ? "" : meanwhile);
    }
}
