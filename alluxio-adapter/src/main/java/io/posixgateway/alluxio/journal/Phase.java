package io.posixgateway.alluxio.journal;

import java.util.Map;
import java.util.Set;

/**
 * The states of a changed file and the one table of what follows what, drawn in docs/design/write-path.md. In memory each carries its data
 * ({@code write.DirtyState}), on disk a record its bits ({@link DirtyFileRecord}).
 */
public enum Phase {
    /** A new file whose name is being created in Alluxio: whether it was may not be known. Alluxio is asked, and it is undone or goes on. */
    PENDING,
    /** The content is in the spool, and differs from what Alluxio holds. */
    SPOOLED,
    /** The content goes to Alluxio while it is written; the spool is empty. */
    STREAMING,
    /** The content is being uploaded. On disk as before: the next process uploads it again. */
    COMMITTING,
    /** Alluxio holds the content, and so does the spool. */
    COMMITTED,
    /** The same, but a worker that stopped may still undo it: to be committed again. */
    UNSTABLE,
    /** A stream failed, or its process ended: all that is asked of the content fails, until it is cut to nothing. */
    LOST,
    /** The file has no name any more: the content goes with its last handle. */
    UNLINKED,
    /** No changed file any more. */
    CLOSED;

    private static final Map<Phase, Set<Phase>> NEXT = Map.of(
            PENDING, Set.of(SPOOLED, CLOSED),
            SPOOLED, Set.of(SPOOLED, STREAMING, COMMITTING, UNLINKED, CLOSED),
            STREAMING, Set.of(STREAMING, COMMITTING, SPOOLED, LOST, CLOSED),
            COMMITTING, Set.of(SPOOLED, COMMITTED, UNSTABLE, LOST, CLOSED),
            COMMITTED, Set.of(SPOOLED, UNLINKED, CLOSED),
            UNSTABLE, Set.of(COMMITTING, SPOOLED, UNLINKED, CLOSED),
            LOST, Set.of(SPOOLED, UNLINKED, CLOSED),
            UNLINKED, Set.of(UNLINKED, CLOSED),
            CLOSED, Set.of());

    /** Returns the other; where that may not follow this one, the file stays as it is. */
    public Phase to(Phase next) {
        if (!leadsTo(next)) {
            throw new IllegalStateException("A changed file that is " + this + " cannot become " + next);
        }
        return next;
    }

    /** May the other follow this one? */
    public boolean leadsTo(Phase next) {
        return NEXT.getOrDefault(this, Set.of()).contains(next);
    }
}
