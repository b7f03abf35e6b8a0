package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.spi.Errno;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DirtyStateTest {
    private final StoreWriter sink;

    DirtyStateTest() throws StoreException {
        sink = new MemoryCluster(MemoryUfs.Kind.LOCAL).connect().create("/file", 0644, Map.of(), UUID.randomUUID());
    }

    private List<DirtyState> changing() {
        return List.of(
                new DirtyState.Created(sink, 0, false),
                DirtyState.Spooled.CHANGED,
                DirtyState.Spooled.INCOMPLETE,
                DirtyState.Spooled.HERE_ONLY,
                new StreamingUpload(sink, 0),
                DirtyState.Plain.COMMITTED,
                new DirtyState.Unstable("/file", false),
                DirtyState.Plain.UNLINKED);
    }

    @Test
    void written_ofAnyThatMayChange_holdsContent_andIsMadeOnce() {
        for (DirtyState state : changing()) {
            DirtyState written = state.written();
            assertThat(state.phase().to(written.phase())).isIn(Phase.SPOOLED, Phase.STREAMING, Phase.UNLINKED);
            assertThat(written.written()).isSameAs(written);
            assertThat(written).isNotEqualTo(new DirtyState.Created(sink, 0, false));
        }
    }

    @Test
    void written_ofAnyWhoseContentMustNotChange_isNotAllowed() {
        DirtyState lost = new DirtyState.Lost(new StoreException(Errno.EIO, "lost", null));
        DirtyState committing = new DirtyState.Committing(DirtyState.Spooled.HERE_ONLY);
        for (DirtyState state : List.of(lost, committing, DirtyState.Plain.CLOSED)) {
            assertThat(state.phase().leadsTo(state.written().phase())).isFalse();
        }
        assertThat(committing.content()).isEqualTo(DirtyState.Spooled.HERE_ONLY);
    }
}
