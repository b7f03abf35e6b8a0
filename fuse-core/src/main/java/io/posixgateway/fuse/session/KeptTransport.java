package io.posixgateway.fuse.session;

import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.transport.DevFuseTransport;
import io.posixgateway.fuse.transport.RingMemory;
import io.posixgateway.fuse.transport.Sizes;
import io.posixgateway.fuse.transport.Transport;
import io.posixgateway.fuse.transport.UringTransport;
import org.jspecify.annotations.Nullable;

/**
 * Which way the messages of a kept session travel: for a new one as the options say, where auto means devfuse; afterwards as
 * it began, because the kernel does not change that.
 */
final class KeptTransport {
    private final boolean negotiated;
    private final Sizes sizes;
    private final @Nullable RingMemory rings;

    private KeptTransport(boolean negotiated, Sizes sizes, @Nullable RingMemory rings) {
        this.negotiated = negotiated;
        this.sizes = sizes;
        this.rings = rings;
    }

    /** @param options as they fit the session */
    static KeptTransport choose(SessionOptions options, KeptSession kept, SessionMemory memory) throws MountException {
        TransportChooser chooser = new TransportChooser(options);
        Negotiated earlier = memory.negotiated();
        Sizes sizes = chooser.sizes();
        if (earlier != null) {
            return earlier.has(InitFeature.OVER_IO_URING)
                    ? taken(sizes.withDepth(memory.ringDepth()), memory)
                    : new KeptTransport(true, sizes, null);
        }
        if (options.transport() != TransportChoice.URING) {
            return new KeptTransport(false, sizes, null);
        }
        String refusal = chooser.refusal(TransportChoice.URING);
        if (refusal != null) {
            throw new MountException(
                    "the session at " + kept.target() + " is to be served over io_uring, which cannot be had: "
                            + refusal,
                    "do what is said here, or choose devfuse for it");
        }
        long address = memory.newRings(sizes.queueDepth(), UringTransport.memoryBytes(sizes));
        return new KeptTransport(false, sizes, RingMemory.kept(address, false, memory::files));
    }

    private static KeptTransport taken(Sizes sizes, SessionMemory memory) throws MountException {
        long address = memory.earlierRings(UringTransport.memoryBytes(sizes));
        return new KeptTransport(true, sizes, RingMemory.kept(address, true, memory::files));
    }

    boolean uring() {
        return rings != null;
    }

    Transport make(int fd, SessionMetrics metrics) {
        return rings == null
                ? new DevFuseTransport(fd, true, negotiated, sizes, metrics)
                : new UringTransport(fd, sizes, metrics, rings);
    }
}
