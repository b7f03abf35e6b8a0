package io.posixgateway.fuse.session;

import io.posixgateway.fuse.dispatch.RateLimit;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How a session is mounted and served. Values are checked when the session starts; a bad one is named in the exception.
 *
 * @param transport which way messages travel
 * @param sourceName first column of /proc/mounts
 * @param readOnly mounted read-only, and changes refused with EROFS by the dispatcher as well
 * @param allowOther other users than the one who mounts may enter
 * @param defaultPermissions the kernel checks permission bits
 * @param flags of the mount; of a session that a keeper holds, as that mounted it
 * @param maxWriteBytes largest read or write; a multiple of 4096 from 128 KiB to 1 MiB (what the kernel allows is taken)
 * @param threads devfuse: receiving threads; 0: two per CPU, at most 16
 * @param queueDepth uring: entries per queue; 0: chosen by the number of CPUs
 * @param poolThreads bound of the pool for requests that wait
 * @param spinMicros uring: look for work this long before sleeping; 0: never
 * @param enableUring may the kernel's enable_uring be switched on (changes the whole machine)?
 * @param guard a small process unmounts when this one dies without having done so
 * @param off features that are not to be used, and why not: a few words for the session's line
 * @param limit of what requests may ask for
 */
public record SessionOptions(
        TransportChoice transport,
        String sourceName,
        boolean readOnly,
        boolean allowOther,
        boolean defaultPermissions,
        Set<MountFlag> flags,
        int maxWriteBytes,
        int threads,
        int queueDepth,
        int poolThreads,
        int spinMicros,
        boolean enableUring,
        boolean guard,
        Map<Feature, String> off,
        RateLimit limit) {
    /** Without a limit of what requests may ask for. */
    public SessionOptions(
            TransportChoice transport,
            String sourceName,
            boolean readOnly,
            boolean allowOther,
            boolean defaultPermissions,
            Set<MountFlag> flags,
            int maxWriteBytes,
            int threads,
            int queueDepth,
            int poolThreads,
            int spinMicros,
            boolean enableUring,
            boolean guard,
            Map<Feature, String> off) {
        this(
                transport,
                sourceName,
                readOnly,
                allowOther,
                defaultPermissions,
                flags,
                maxWriteBytes,
                threads,
                queueDepth,
                poolThreads,
                spinMicros,
                enableUring,
                guard,
                off,
                RateLimit.NONE);
    }

    /** The same with another limit. */
    public SessionOptions within(RateLimit other) {
        return new SessionOptions(
                transport,
                sourceName,
                readOnly,
                allowOther,
                defaultPermissions,
                flags,
                maxWriteBytes,
                threads,
                queueDepth,
                poolThreads,
                spinMicros,
                enableUring,
                guard,
                off,
                other);
    }

    /** Why a feature is off that the options leave out. */
    public static final String SWITCHED_OFF = "switched off";

    /** Which transport to take. */
    public enum TransportChoice {
        AUTO,
        URING,
        DEVFUSE,
        LIBFUSE
    }

    /** What can be switched off. */
    public enum Feature {
        READDIRPLUS,
        /** The kernel decides for each listing whether it wants attributes with it; else it always does. */
        READDIRPLUS_AUTO,
        PARALLEL_DIROPS,
        ASYNC_READ,
        WRITEBACK_CACHE,
        PASSTHROUGH,
        BIG_WRITES,
        RESEND,
        CACHE_SYMLINKS,
        ATOMIC_O_TRUNC,
        /** Id-mapped mounts; with {@link SessionOptions#defaultPermissions} only. */
        ID_MAP,
        /** uring: the queues' threads let the programs that they serve go first; only where they can come back. */
        STAND_BACK
    }

    /** The same for a session that is kept: read-only as it was mounted, and with the sizes agreed upon then. */
    SessionOptions forKept(boolean mountedReadOnly, @Nullable Negotiated earlier) {
        return new SessionOptions(
                transport,
                sourceName,
                readOnly || mountedReadOnly,
                allowOther,
                defaultPermissions,
                flags,
                earlier == null ? maxWriteBytes : earlier.maxWriteBytes(),
                threads,
                queueDepth,
                poolThreads,
                spinMicros,
                enableUring,
                guard,
                off,
                limit);
    }

    /** Names the first value that is out of its range, in an IllegalArgumentException. */
    void check() {
        require(
                maxWriteBytes % 4096 == 0 && maxWriteBytes >= 128 << 10 && maxWriteBytes <= 1 << 20,
                "maxWriteBytes",
                maxWriteBytes,
                "a multiple of 4096 from 131072 to 1048576");
        require(threads >= 0 && threads <= 256, "threads", threads, "0 (automatic) to 256");
        require(queueDepth >= 0 && queueDepth <= 1024, "queueDepth", queueDepth, "0 (automatic) to 1024");
        require(poolThreads >= 1 && poolThreads <= 4096, "poolThreads", poolThreads, "1 to 4096");
        require(spinMicros >= 0 && spinMicros <= 10_000, "spinMicros", spinMicros, "0 to 10000");
        require(!sourceName.isEmpty() && sourceName.length() <= 255, "sourceName", sourceName, "1 to 255 characters");
    }

    private static void require(boolean holds, String name, Object given, String allowed) {
        if (!holds) {
            throw new IllegalArgumentException(name + " is " + given + "; allowed: " + allowed);
        }
    }

    /** What suits most: auto, default_permissions, 1 MiB, a pool of 32; the writeback cache, atomic O_TRUNC and id-mapped mounts off. */
    public static SessionOptions defaults() {
        return new SessionOptions(
                TransportChoice.AUTO,
                "posix-gateway",
                false,
                false,
                true,
                MountFlag.SAFE,
                1 << 20,
                0,
                0,
                32,
                0,
                false,
                false,
                Map.of(
                        Feature.WRITEBACK_CACHE, SWITCHED_OFF,
                        Feature.ATOMIC_O_TRUNC, SWITCHED_OFF,
                        Feature.ID_MAP, SWITCHED_OFF));
    }
}
