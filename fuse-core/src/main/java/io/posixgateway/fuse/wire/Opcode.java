package io.posixgateway.fuse.wire;

import java.util.Arrays;
import java.util.Locale;

/** What the kernel can ask for. */
public enum Opcode {
    /** Stands for every number that is not listed here. */
    UNKNOWN(0, 0),
    LOOKUP(1, 0),
    FORGET(2, 8, Kind.UNANSWERED),
    GETATTR(3, 16),
    SETATTR(4, 88, Kind.CHANGE),
    READLINK(5, 0),
    SYMLINK(6, 0, Kind.CHANGE),
    MKNOD(8, 16, Kind.CHANGE),
    MKDIR(9, 8, Kind.CHANGE),
    UNLINK(10, 0, Kind.CHANGE),
    RMDIR(11, 0, Kind.CHANGE),
    RENAME(12, 8, Kind.CHANGE),
    LINK(13, 8, Kind.CHANGE),
    OPEN(14, 8),
    READ(15, 40),
    WRITE(16, 40, Kind.CHANGE),
    STATFS(17, 0),
    RELEASE(18, 24),
    FSYNC(20, 16),
    SETXATTR(21, 8, Kind.CHANGE),
    GETXATTR(22, 8),
    LISTXATTR(23, 8),
    REMOVEXATTR(24, 0, Kind.CHANGE),
    FLUSH(25, 24),
    INIT(26, 16),
    OPENDIR(27, 8),
    READDIR(28, 40),
    RELEASEDIR(29, 24),
    FSYNCDIR(30, 16),
    GETLK(31, 48),
    SETLK(32, 48),
    SETLKW(33, 48),
    ACCESS(34, 8),
    CREATE(35, 16, Kind.CHANGE),
    INTERRUPT(36, 8, Kind.UNANSWERED),
    BMAP(37, 16),
    DESTROY(38, 0),
    IOCTL(39, 32),
    POLL(40, 24),
    NOTIFY_REPLY(41, 40, Kind.UNANSWERED),
    BATCH_FORGET(42, 8, Kind.UNANSWERED),
    FALLOCATE(43, 32, Kind.CHANGE),
    READDIRPLUS(44, 40),
    RENAME2(45, 16, Kind.CHANGE),
    LSEEK(46, 24),
    COPY_FILE_RANGE(47, 56, Kind.CHANGE),
    SYNCFS(50, 8),
    TMPFILE(51, 16, Kind.CHANGE),
    STATX(52, 24);

    private enum Kind {
        QUESTION,
        CHANGE,
        UNANSWERED
    }

    private static final Opcode[] BY_CODE = byCode();

    /** Every code is below this number: the length of a table by code. */
    public static final int CODES = BY_CODE.length;

    private final int code;
    private final int argumentBytes;
    private final Kind kind;
    private final String label;

    Opcode(int code, int argumentBytes) {
        this(code, argumentBytes, Kind.QUESTION);
    }

    Opcode(int code, int argumentBytes, Kind kind) {
        this.code = code;
        this.argumentBytes = argumentBytes;
        this.kind = kind;
        this.label = name().toLowerCase(Locale.ROOT);
    }

    /** The opcode with this number, or UNKNOWN. */
    public static Opcode of(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : UNKNOWN;
    }

    /** The number on the wire. */
    public int code() {
        return code;
    }

    /** Size of the fixed arguments between header and payload. */
    public int argumentBytes() {
        return argumentBytes;
    }

    /** Is it refused on a read-only mount? (An open for writing is, too: that depends on its flags.) */
    public boolean changes() {
        return kind == Kind.CHANGE;
    }

    /** Does the kernel wait for an answer? */
    public boolean answered() {
        return kind != Kind.UNANSWERED;
    }

    /** The name for people and metrics: {@code copy_file_range}. */
    public String label() {
        return label;
    }

    private static Opcode[] byCode() {
        Opcode[] all = values();
        Opcode[] table = new Opcode[all[all.length - 1].code + 1];
        Arrays.fill(table, UNKNOWN);
        for (Opcode opcode : all) {
            table[opcode.code] = opcode;
        }
        return table;
    }
}
