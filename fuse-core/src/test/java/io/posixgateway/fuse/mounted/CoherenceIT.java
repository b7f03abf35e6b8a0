package io.posixgateway.fuse.mounted;

import io.posixgateway.fuse.conformance.Coherence;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.conformance.WriteGate;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.testing.FaultyFileSystem;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** On one mount all descriptors and mappings of a file see one content: {@code -Dpgw.stress.seconds} for {@code make stress}. */
class CoherenceIT {
    private static final int SECONDS = Integer.getInteger("pgw.stress.seconds", 4);
    private static final int FOLLOWED = Integer.getInteger("pgw.followed", 0);
    private static final long SEED = Long.getLong("pgw.seed", System.nanoTime()) % 1_000_000;
    private static final long CAPACITY_BYTES = 512 << 20;

    @EachTransport
    void whatIsDoneBesideAWriteThatIsInFlightLeavesItInThePageCache(TransportChoice transport) throws Exception {
        // Attributes are asked for each time.
        MemoryFileSystem memory = new MemoryFileSystem(CAPACITY_BYTES, 0, Clock.system());
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(new FaultyFileSystem(memory, new WriteGate()), transport)) {
            for (String what : new String[] {"read", "stat", "open"}) {
                Coherence.overlapping(mounted.root().resolve(what), what);
            }
        }
    }

    @EachTransport
    void theSameHoldsForAFileSystemByPaths(TransportChoice transport, @TempDir Path folder) throws Exception {
        try (MountedFileSystem mounted = MountedFileSystem.mount(
                new FaultyFileSystem(new MirrorFileSystem(folder), new WriteGate()), transport)) {
            for (String what : new String[] {"read", "stat", "open"}) {
                Coherence.overlapping(mounted.root().resolve(what), what);
            }
        }
    }

    @EachTransport
    void everyProcessSeesWhatOthersDid(TransportChoice transport) throws Exception {
        try (MountedFileSystem mounted = MountedFileSystem.mount(new MemoryFileSystem(CAPACITY_BYTES), transport)) {
            Coherence.random(mounted.root(), SEED, SECONDS);
        }
    }

    @EachTransport
    void whoFollowsAnAppendedFileReadsWhatWasWritten(TransportChoice transport) throws Exception {
        try (MountedFileSystem mounted = MountedFileSystem.mount(new MemoryFileSystem(CAPACITY_BYTES), transport)) {
            if (FOLLOWED > 0) {
                Coherence.followingFiles(mounted.root(), FOLLOWED);
            } else {
                Coherence.following(mounted.root(), SECONDS / 2);
            }
        }
    }
}
