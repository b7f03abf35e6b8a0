package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.CreationLog.Creation;
import io.posixgateway.alluxio.journal.DirtyFileRecord;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;

/** Spool file and record of a new file that does not exist in Alluxio yet. For one thread; ends by created or abandon. */
public final class PendingCreate {
    final Spool spool;
    final DirtyFileRecord record;

    PendingCreate(Spool spool, DirtyFileRecord record) {
        this.spool = spool;
        this.record = record;
    }

    /** What is to be made. */
    DirtyFileRecord.Content content() {
        return record.content();
    }

    /** Its creation, whose answer is not known. */
    Creation creation() {
        return creation(spool.file(), content());
    }

    /** The one that this spool file belongs to. */
    static Creation creation(Path spool, DirtyFileRecord.Content content) {
        String unique = spool.getFileName() + " " + content.path();
        UUID number = UUID.nameUUIDFromBytes(unique.getBytes(StandardCharsets.UTF_8));
        return new Creation(number, content.path(), 0, 0, NameReservations.stamp(content.status()));
    }

    /** The file could not be made. */
    public void abandon() {
        DirtyFile.remove(spool, record, false);
    }
}
