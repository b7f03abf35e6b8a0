package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.journal.Journal.Kind;
import io.posixgateway.alluxio.journal.JournalFrame.Subject;
import java.util.List;

/**
 * Renames of files that this process has in flight where a rename is a copy. Each is recorded before it is requested, and taken off when
 * its outcome is known. Any thread.
 */
public final class RenameLog {
    /** Those over files: nothing has the name while Alluxio makes one, and after its master was killed in it. The next process finishes them. */
    public final JournalList<Renaming> over;
    /** Those to free names. The next process has Alluxio know what was done of them. */
    public final JournalList<Renaming> free;

    /**
     * One rename of a file.
     *
     * @param from the path of the file before
     * @param fileId Alluxio's, of the file that is renamed
     * @param to the path of the file that is replaced, or the free one
     */
    public record Renaming(String from, long fileId, String to) {}

    public RenameLog(VolumeJournal journal) {
        this.over = new Renames(journal, Kind.RENAME_OVER);
        this.free = new Renames(journal, Kind.RENAME_FREE);
    }

    private static final class Renames extends JournalList<Renaming> {
        Renames(VolumeJournal journal, Kind kind) {
            super(journal, kind);
        }

        @Override
        Subject subject(Renaming renaming) {
            return new Subject(0, renaming.fileId());
        }

        @Override
        List<String> texts(Renaming renaming) {
            return List.of(renaming.from(), renaming.to());
        }

        @Override
        Renaming entry(Subject subject, List<String> texts) {
            return new Renaming(texts.get(0), subject.fileId(), texts.get(1));
        }
    }
}
