package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.journal.JournalFrame.Subject;
import java.util.List;

/**
 * The hidden files that this process has in Alluxio: open files that were deleted, and content on its way to a name.
 *
 * <p>Each is recorded before it is made, and taken off when it is gone. The next process of the volume removes what stands in the list. So
 * a hidden file of another node, or of a living process, is never touched. Any thread.
 */
public final class SillyRenames extends JournalList<SillyRenames.Hidden> {
    /**
     * One hidden file.
     *
     * @param path where it is, unless directories above it were renamed since
     * @param fileId Alluxio's; 0: it is not known yet
     * @param node that may still be open; 0: none is
     */
    public record Hidden(String path, long fileId, long node) {}

    public SillyRenames(VolumeJournal journal) {
        super(journal, Journal.Kind.HIDDEN);
    }

    @Override
    Subject subject(Hidden hidden) {
        return new Subject(hidden.node(), hidden.fileId());
    }

    @Override
    List<String> texts(Hidden hidden) {
        return List.of(hidden.path());
    }

    @Override
    Hidden entry(Subject subject, List<String> texts) {
        return new Hidden(texts.get(0), subject.fileId(), subject.node());
    }

    /** The deleted file of this node is gone, wherever it was. */
    public void forget(long node) {
        present().stream().filter(hidden -> hidden.node() == node).forEach(this::remove);
    }
}
