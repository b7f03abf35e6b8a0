package io.posixgateway.fuse.session;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Flags of mount(2) besides the read-only one. */
public enum MountFlag {
    NOSUID(2, "nosuid"),
    NODEV(4, "nodev"),
    NOEXEC(8, "noexec"),
    SYNC(16, "sync"),
    DIRSYNC(128, "dirsync"),
    NOATIME(1024, "noatime"),
    NODIRATIME(2048, null),
    STRICTATIME(1 << 24, null);

    /** What is mounted otherwise could make its users root. */
    public static final Set<MountFlag> SAFE = Set.of(NOSUID, NODEV);

    static final int READ_ONLY = 1;

    private final int bit;
    private final @Nullable String word;

    MountFlag(int bit, @Nullable String word) {
        this.bit = bit;
        this.word = word;
    }

    static int bits(Set<MountFlag> flags) {
        int all = 0;
        for (MountFlag flag : flags) {
            all |= flag.bit;
        }
        return all;
    }

    /** As options of fusermount; those that it does not know mean nothing on FUSE. */
    static String words(Set<MountFlag> flags) {
        StringBuilder text = new StringBuilder();
        for (MountFlag flag : values()) {
            if (flags.contains(flag) && flag.word != null) {
                text.append(',').append(flag.word);
            }
        }
        return text.toString();
    }
}
