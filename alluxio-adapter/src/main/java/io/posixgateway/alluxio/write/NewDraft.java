package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.recovery.DraftRecord;
import java.util.UUID;

/** A spool file and its record, for a new file that is not in Alluxio yet. For one thread; ends by created or abandon. */
public final class NewDraft {
    final Spool spool;
    final DraftRecord record;

    NewDraft(Spool spool, DraftRecord record) {
        this.spool = spool;
        this.record = record;
    }

    /** What is to be made. */
    DraftRecord.Content content() {
        return record.content();
    }

    /** Of its creation. */
    UUID number() {
        return Reservations.number(spool.file(), record.content().path());
    }

    /** The file could not be made. */
    public void abandon() {
        Draft.remove(spool, record, false);
    }
}
