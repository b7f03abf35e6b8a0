package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.Feature;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.transport.DevFuseTransport;
import io.posixgateway.fuse.transport.RingMemory;
import io.posixgateway.fuse.transport.Transport;
import io.posixgateway.fuse.transport.TransportConfig;
import io.posixgateway.fuse.transport.UringTransport;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Which way the messages of a persistent session travel: for a new one as the options say, where auto means devfuse; afterwards as
 * it began, because the kernel does not change that.
 *
 * <p>And what becomes of requests that a process had received when it was killed. Either the kernel sends them again to the next
 * one (Linux 6.9), or it ends them with ECONNABORTED, as they were read from a descriptor that died with it.
 */
final class PersistentTransport {
    private final boolean negotiated;
    private final boolean resends;
    /** -1: there is none, or the transport has it. */
    private int cloneFd;

    private final TransportConfig sizes;
    private final @Nullable RingMemory rings;

    private PersistentTransport(
            boolean negotiated, boolean resends, int cloneFd, TransportConfig sizes, @Nullable RingMemory rings) {
        this.negotiated = negotiated;
        this.resends = resends;
        this.cloneFd = cloneFd;
        this.sizes = sizes;
        this.rings = rings;
    }

    /**
     * @param options as they fit the session
     * @param kept whose clone is this object's when this returns
     */
    static PersistentTransport choose(SessionOptions options, PersistentSession kept, SessionMemory memory)
            throws MountException {
        boolean resends = resends(options, kept, memory.negotiated());
        PersistentTransport way = choose(options, kept, memory, resends);
        if (!resends && !way.uring() && kept.cloneFd() < 0) {
            int clone = Native.cloneDevice(kept.fuseFd());
            if (clone < 0) {
                throw new MountException(
                        "the session at " + kept.target() + " needs a descriptor of its own, because this kernel does"
                                + " not resend requests, but /dev/fuse cannot be opened (" + Native.errorText(clone)
                                + ")",
                        "update the keeper, or give this process the device /dev/fuse");
            }
            return new PersistentTransport(way.negotiated, false, clone, way.sizes, null);
        }
        return way;
    }

    /**
     * Does the kernel send again what another process had received? Of a new session it is asked to, since it has nothing to
     * send yet: a kernel may refuse though its protocol has it.
     */
    private static boolean resends(SessionOptions options, PersistentSession kept, @Nullable Negotiated earlier) {
        if (earlier != null) {
            return earlier.has(InitFeature.RESEND);
        }
        ByteBuffer message =
                ByteBuffer.allocateDirect(NotificationFormat.HEADER_BYTES).order(ByteOrder.nativeOrder());
        return !options.off().containsKey(Feature.RESEND)
                && Native.write(kept.fuseFd(), message, NotificationFormat.resend(message)) >= 0;
    }

    private static PersistentTransport choose(
            SessionOptions options, PersistentSession kept, SessionMemory memory, boolean resends)
            throws MountException {
        TransportChooser chooser = new TransportChooser(options);
        Negotiated earlier = memory.negotiated();
        TransportConfig sizes = chooser.sizes();
        if (earlier != null) {
            return earlier.has(InitFeature.OVER_IO_URING)
                    ? taken(sizes.withDepth(memory.ringDepth()), memory, kept, resends)
                    : new PersistentTransport(true, resends, kept.cloneFd(), sizes, null);
        }
        if (options.transport() != TransportChoice.URING) {
            return new PersistentTransport(false, resends, kept.cloneFd(), sizes, null);
        }
        String refusal = chooser.refusal(TransportChoice.URING);
        if (refusal != null) {
            throw new MountException(
                    "the session at " + kept.target() + " needs io_uring, which is not available: " + refusal,
                    "fix this cause, or choose transport devfuse");
        }
        long address = memory.newRings(sizes.queueDepth(), UringTransport.memoryBytes(sizes));
        RingMemory rings = RingMemory.kept(address, false, memory::files);
        return new PersistentTransport(false, resends, kept.cloneFd(), sizes, rings);
    }

    private static PersistentTransport taken(
            TransportConfig sizes, SessionMemory memory, PersistentSession kept, boolean resends)
            throws MountException {
        long address = memory.earlierRings(UringTransport.memoryBytes(sizes));
        RingMemory rings = RingMemory.kept(address, true, memory::files);
        return new PersistentTransport(true, resends, kept.cloneFd(), sizes, rings);
    }

    /** Does the kernel send again what this process will not have answered? */
    boolean resends() {
        return resends;
    }

    /** Does the next process find what this one does not answer: sent again by the kernel, or in the ring entries? */
    boolean leavesRequests() {
        return resends || uring();
    }

    /** For the session's line. */
    String describe() {
        String warning = RequestTimeout.warning();
        return "takeover "
                + (resends ? "resend" : uring() ? "rings" : "clone(calls in flight fail when this process is killed)")
                + (warning.isEmpty() ? "" : " " + warning);
    }

    boolean uring() {
        return rings != null;
    }

    /** The clone that no transport has; -1: none. */
    int unusedClone() {
        return cloneFd;
    }

    /** Once. */
    Transport make(int fd, SessionMetrics metrics) {
        int clone = unusedClone();
        cloneFd = -1;
        if (rings == null && !resends) {
            return DevFuseTransport.kept(fd, clone, negotiated, sizes, metrics);
        }
        if (clone >= 0) {
            Native.close(clone);
        }
        return rings == null
                ? DevFuseTransport.kept(fd, -1, negotiated, sizes, metrics)
                : new UringTransport(fd, sizes, metrics, rings);
    }
}
