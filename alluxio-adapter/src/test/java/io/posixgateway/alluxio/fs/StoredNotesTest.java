package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.journal.VolumeStateDir;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.MemoryAccounting;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.time.ManualClock;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoredNotesTest {
    private static final long NODE = 77;
    private static final long FILE_ID = 1000;

    /** It is looked up in the moment in which the kernel forgets it. */
    @Test
    void directory_thatComesBack_isOneForTheNextProcess(@TempDir Path folder) throws StoreException {
        try (VolumeStateDir notes = VolumeStateDir.open(folder.resolve("volume"))) {
            InodeTable table = new InodeTable(
                    "/mounted", 1, 1000, new MemoryAccounting(Long.MAX_VALUE), NameCodec.ESCAPED, new ManualClock());
            table.tell(new StoredNotes(notes));
            Inode directory = table.restore(NODE, FILE_ID, true);
            table.forget(NODE, Long.MAX_VALUE);
            table.lookedUp(directory);
        }
        try (VolumeStateDir notes = VolumeStateDir.open(folder.resolve("volume"))) {
            assertThat(notes.nodes().inheritedDirectories()).containsEntry(NODE, FILE_ID);
            assertThat(notes.nodes().inherited()).isEmpty();
        }
    }
}
