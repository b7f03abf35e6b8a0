package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.journal.JournalFrame.Subject;
import java.util.List;

/**
 * Renames of directories, file by file, that began and did not end: this process's, and those that earlier ones left. Each is recorded
 * before anything is made, and taken off when the old name is gone. Any thread.
 */
public final class DirectoryRenameLog extends JournalList<DirectoryRenameLog.Moving> {
    /**
     * One rename of a directory.
     *
     * @param from its path before
     * @param to its new path
     */
    public record Moving(String from, String to) {}

    public DirectoryRenameLog(VolumeJournal journal) {
        super(journal, Journal.Kind.DIRECTORY_RENAME);
    }

    @Override
    Subject subject(Moving moving) {
        return Subject.NONE;
    }

    @Override
    List<String> texts(Moving moving) {
        return List.of(moving.from(), moving.to());
    }

    @Override
    Moving entry(Subject subject, List<String> texts) {
        return new Moving(texts.get(0), texts.get(1));
    }
}
