package io.posixgateway.fuse.session;

import io.posixgateway.fuse.session.SessionOptions.Feature;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the kernel may offer at INIT and this library asks for: the bits of the protocol, and the switch that leaves them out.
 *
 * <p>Not AUTO_INVAL_DATA: with it, the kernel drops a file's pages when an answer shows another time of the last change, as the
 * first one after each write does. A write that is under way has its bytes in those pages already, and the file system does not have
 * them yet; so what is read then comes without them, and stays in the page cache when the write is over: zeros, of an append.
 */
enum InitFeature {
    READDIRPLUS(1L << 13, Feature.READDIRPLUS),
    READDIRPLUS_AUTO(1L << 14, Feature.READDIRPLUS_AUTO),
    PARALLEL_DIROPS(1L << 18, Feature.PARALLEL_DIROPS),
    ASYNC_READ(1L | 1L << 15, Feature.ASYNC_READ),
    BIG_WRITES(1L << 5, Feature.BIG_WRITES),
    WRITEBACK_CACHE(1L << 16, Feature.WRITEBACK_CACHE),
    PASSTHROUGH(1L << 37, Feature.PASSTHROUGH),
    RESEND(1L << 39, Feature.RESEND),
    CACHE_SYMLINKS(1L << 23, Feature.CACHE_SYMLINKS),
    ATOMIC_O_TRUNC(1L << 3, Feature.ATOMIC_O_TRUNC),
    /** Requests of more than 128 KiB; the ring entries of uring are sized by it. */
    MAX_PAGES(1L << 22, null),
    DIRECT_IO_ALLOW_MMAP(1L << 36, null),
    /** Who changes a file takes set-user-id and set-group-id off it, rather than the kernel by a chmod. */
    HANDLE_KILLPRIV_V2(1L << 28, null),
    LOCKS(1L << 1 | 1L << 10, null),
    /** The kernel asks for nodes that it forgot, by "." and "..". */
    EXPORT_SUPPORT(1L << 4, null),
    /** There are no file handles, rather than some that end when the kernel forgets. */
    NO_EXPORT_SUPPORT(1L << 38, null),
    /** Mounts of the file system may show other owners. The kernel then names users and groups in requests that create, and in no others. */
    ALLOW_IDMAP(1L << 40, Feature.ID_MAP),
    OVER_IO_URING(1L << 41, null);

    /** The kernel reads the reply's second half of flags only with this one. */
    static final long INIT_EXT = 1L << 30;

    private final long bits;
    private final @Nullable Feature feature;

    InitFeature(long bits, @Nullable Feature feature) {
        this.bits = bits;
        this.feature = feature;
    }

    /** Those bits of the feature that are among the offered. */
    long bits(long offered) {
        return bits & offered;
    }

    /** The option that switches it off; null: it has none. */
    @Nullable
    Feature feature() {
        return feature;
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
