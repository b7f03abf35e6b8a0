package io.posixgateway.fuse.session;

import io.posixgateway.fuse.dispatch.InitHandler;
import io.posixgateway.fuse.session.SessionOptions.Feature;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.transport.Exchange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * INIT: takes of what the kernel offers all that is wanted, and remembers why the rest is off.
 *
 * <p>Runs on the thread that receives the first message; what it agreed upon is then read from any.
 */
final class Handshake implements InitHandler {
    private static final Logger LOG = LoggerFactory.getLogger(Handshake.class);
    private static final int MAJOR = 7;
    private static final int MINOR = 45;
    /** Before it, INIT's reply was shorter. */
    private static final int OLDEST_MINOR = 23;

    private static final int REPLY_BYTES = 64;
    private static final int MAX_BACKGROUND = 128;
    private static final int CONGESTION_THRESHOLD = 96;

    private final SessionOptions options;
    private final boolean uring;
    private final boolean locks;
    private final boolean exports;
    private final boolean privileges;
    private final @Nullable Boolean resends;
    private final int pageBytes;
    private final Consumer<Negotiated> listener;
    private final List<String> off = new ArrayList<>();
    private volatile @Nullable Negotiated negotiated;

    /**
     * @param uring ask for messages over io_uring
     * @param resends has the kernel been found to send requests again? null: it is what it offers that counts
     * @param pageBytes in which the kernel counts the largest request
     * @param served what it says of locks, of nodes that the kernel forgot, and of set-id bits
     * @param listener hears of the outcome before the kernel does
     */
    Handshake(
            SessionOptions options,
            boolean uring,
            @Nullable Boolean resends,
            int pageBytes,
            FileSystem served,
            Consumer<Negotiated> listener) {
        this.options = options;
        this.uring = uring;
        this.resends = resends;
        this.pageBytes = pageBytes;
        this.locks = served.handlesLocks();
        this.exports = served.findsForgotten();
        this.privileges = served.dropsPrivileges();
        this.listener = listener;
    }

    /** The outcome; null before INIT. */
    @Nullable
    Negotiated negotiated() {
        return negotiated;
    }

    /** Goes on with what an earlier process agreed upon. */
    void resume(Negotiated earlier) {
        negotiated = earlier;
        listener.accept(earlier);
    }

    @Override
    public int init(Exchange exchange) {
        ByteBuffer in = exchange.arguments();
        int at = exchange.argumentsAt();
        int major = in.getInt(at);
        int minor = in.getInt(at + 4);
        if (major < MAJOR || (major == MAJOR && minor < OLDEST_MINOR)) {
            LOG.error("the kernel offers FUSE {}.{}; at least 7.{} is required", major, minor, OLDEST_MINOR);
            return -Errno.EPROTO;
        }
        if (major > MAJOR) {
            return reply(exchange, 0, new Negotiated(MINOR, 0, options.maxWriteBytes()));
        }
        int maxReadahead = in.getInt(at + 8);
        long offered = in.getInt(at + 12) & 0xffff_ffffL;
        if ((offered & InitFeature.INIT_EXT) != 0) {
            offered |= (long) in.getInt(at + 16) << 32;
        }
        Negotiated outcome = new Negotiated(Math.min(minor, MINOR), choose(offered), options.maxWriteBytes());
        listener.accept(outcome);
        negotiated = outcome;
        return reply(exchange, maxReadahead, outcome);
    }

    private long choose(long offered) {
        long flags = offered & InitFeature.INIT_EXT;
        off.clear();
        for (InitFeature feature : InitFeature.values()) {
            String reason = reasonAgainst(feature, offered);
            if (reason == null) {
                flags |= feature.bits((feature == InitFeature.RESEND && resends != null) ? -1 : offered);
            } else if (!reason.isEmpty()) {
                off.add(feature.label() + "(" + reason + ")");
            }
        }
        return flags;
    }

    /** Null: take it. Empty: not wanted, and not worth a word. */
    private @Nullable String reasonAgainst(InitFeature feature, long offered) {
        Feature option = feature.feature();
        String off = option == null ? null : options.off().get(option);
        if (off != null) {
            return off;
        }
        boolean unwanted =
                switch (feature) {
                    case LOCKS -> !locks;
                    case OVER_IO_URING -> !uring;
                    case HANDLE_KILLPRIV_V2 -> !privileges;
                    case EXPORT_SUPPORT -> !exports;
                    case NO_EXPORT_SUPPORT -> exports;
                    default -> false;
                };
        if (unwanted) {
            return "";
        }
        String lacking = lackingFor(feature);
        if (lacking != null) {
            return lacking;
        }
        boolean there = (feature == InitFeature.RESEND && resends != null) ? resends : feature.bits(offered) != 0;
        return there ? null : "not in this kernel";
    }

    /** What this process or the mount lacks for it; null: nothing. */
    private @Nullable String lackingFor(InitFeature feature) {
        return switch (feature) {
            case PASSTHROUGH -> {
                if (!options.off().containsKey(Feature.WRITEBACK_CACHE)) {
                    yield "excluded by writeback_cache";
                }
                yield Capabilities.sysAdmin() ? null : "needs CAP_SYS_ADMIN";
            }
            // The kernel would refuse the whole session.
            case ALLOW_IDMAP -> options.defaultPermissions() ? null : "needs default_permissions";
            default -> null;
        };
    }

    /**
     * Of what is read ahead the kernel takes the least of this and of what is set for the mount, which the kernel begins with
     * 128 KiB: more than that must be allowed here for {@code read_ahead_kb}, which a keeper sets before, to stay.
     */
    private int reply(Exchange exchange, int maxReadahead, Negotiated outcome) {
        ByteBuffer out = exchange.reply();
        int at = exchange.replyAt();
        for (int i = 0; i < REPLY_BYTES; i += Long.BYTES) {
            out.putLong(at + i, 0);
        }
        out.putInt(at, MAJOR);
        out.putInt(at + 4, outcome.minor());
        out.putInt(at + 8, Math.max(maxReadahead, outcome.maxWriteBytes()));
        out.putInt(at + 12, (int) outcome.flags());
        out.putShort(at + 16, (short) MAX_BACKGROUND);
        out.putShort(at + 18, (short) CONGESTION_THRESHOLD);
        out.putInt(at + 20, outcome.maxWriteBytes());
        out.putInt(at + 24, 1);
        out.putShort(at + 28, (short) Math.max(1, outcome.maxWriteBytes() / pageBytes));
        out.putInt(at + 32, (int) (outcome.flags() >>> 32));
        out.putInt(at + 36, outcome.has(InitFeature.PASSTHROUGH) ? 1 : 0);
        return REPLY_BYTES;
    }

    /** "protocol 7.45 features a,b off c(reason)", for the session's line. */
    String describe() {
        Negotiated outcome = negotiated;
        if (outcome == null) {
            return "protocol not negotiated";
        }
        List<String> on = new ArrayList<>();
        for (InitFeature feature : InitFeature.values()) {
            if (outcome.has(feature)) {
                on.add(feature.label());
            }
        }
        String line = "protocol 7." + outcome.minor() + " features " + String.join(",", on);
        return off.isEmpty() ? line : line + " off " + String.join(",", off);
    }
}
