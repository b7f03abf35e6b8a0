package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;

/**
 * What a changed file is in, with what only that state knows. {@link DirtyFile#become} replaces one by another, as the table in {@link Phase}
 * allows. A {@link PendingCreate} is the one that is pending.
 */
sealed interface DirtyState
        permits DirtyState.Created,
                DirtyState.Spooled,
                StreamingUpload,
                DirtyState.Committing,
                DirtyState.Plain,
                DirtyState.Unstable,
                DirtyState.Lost {
    Phase phase();

    /** What it is once the content has changed. Allocates nothing where it has before. */
    default DirtyState written() {
        return this;
    }

    /** What the content was in before its upload began; this one, where none is in flight. */
    default DirtyState content() {
        return this;
    }

    /** A new file: an incomplete file of this mount has its name in Alluxio, and takes the content. */
    record Created(StoreWriter sink, long sinceNanos, boolean isWritten) implements DirtyState {
        @Override
        public Phase phase() {
            return Phase.SPOOLED;
        }

        @Override
        public DirtyState written() {
            return isWritten ? this : new Created(sink, sinceNanos, true);
        }
    }

    /** The content is to take the place of what Alluxio has. */
    enum Spooled implements DirtyState {
        CHANGED,
        /** A new file: an incomplete file of this mount may have its name in Alluxio, which no upload can write to any more. */
        INCOMPLETE,
        /** A new file whose name was given up, as its upload failed: Alluxio knows nothing of it, unless it did not answer then. */
        HERE_ONLY;

        @Override
        public Phase phase() {
            return Phase.SPOOLED;
        }
    }

    /** @param content what is being uploaded */
    record Committing(DirtyState content) implements DirtyState {
        @Override
        public Phase phase() {
            return Phase.COMMITTING;
        }
    }

    /** Those that know nothing more. */
    enum Plain implements DirtyState {
        COMMITTED(Phase.COMMITTED) {
            @Override
            public DirtyState written() {
                return Spooled.CHANGED;
            }
        },
        UNLINKED(Phase.UNLINKED),
        CLOSED(Phase.CLOSED);

        private final Phase phase;

        Plain(Phase phase) {
            this.phase = phase;
        }

        @Override
        public Phase phase() {
            return phase;
        }
    }

    /**
     * Its next upload replaces nothing but what it was committed as.
     *
     * @param path where a worker may still undo it, see {@link StaleWorkerWrites}
     * @param isOvertaken another file is there since, or none: at its end {@link RecommitQueue} looks what becomes of the content
     */
    record Unstable(String path, boolean isOvertaken) implements DirtyState {
        @Override
        public Phase phase() {
            return Phase.UNSTABLE;
        }

        @Override
        public DirtyState written() {
            return Spooled.CHANGED;
        }
    }

    /** @param why what everyone is answered who asks for the content */
    record Lost(StoreException why) implements DirtyState {
        @Override
        public Phase phase() {
            return Phase.LOST;
        }
    }
}
