package io.posixgateway.alluxio.mounted;

import io.posixgateway.fuse.conformance.Coherence;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * On one mount of Alluxio all descriptors and mappings of a file see one content, at every size. For a moment in every build;
 * {@code make coherence}: for {@code -Dpgw.stress.seconds}, and as many followed files as {@code -Dpgw.followed} says.
 */
class CoherenceIT {
    private static final int SECONDS = Integer.getInteger("pgw.stress.seconds", 5);
    private static final int FOLLOWED = Integer.getInteger("pgw.followed", 0);
    private static final long SEED = Long.getLong("pgw.seed", System.nanoTime()) % 1_000_000;

    private static MountedFileSystem mount(TransportChoice transport) throws Exception {
        return MountedFileSystem.mount(SharedAlluxio.open(SharedAlluxio.folder(), Map.of()), transport);
    }

    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void everyProcessSeesWhatOthersDid(TransportChoice transport) throws Exception {
        try (MountedFileSystem mounted = mount(transport)) {
            Coherence.random(mounted.root(), SEED, SECONDS);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void whoFollowsAnAppendedFileReadsWhatWasWritten(TransportChoice transport) throws Exception {
        try (MountedFileSystem mounted = mount(transport)) {
            if (FOLLOWED > 0) {
                Coherence.followingFiles(mounted.root(), FOLLOWED);
            } else {
                Coherence.following(mounted.root(), SECONDS / 2);
            }
        }
    }
}
