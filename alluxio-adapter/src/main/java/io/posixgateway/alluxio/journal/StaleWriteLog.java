package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.journal.JournalFrame.Subject;
import java.util.List;

/**
 * Paths at which a worker that stopped responding may still write, whatever became of the file that it was sent. Each is recorded when the
 * worker does not respond, and taken off when it is done with what it was sent, or will not do it any more. Any thread.
 */
public final class StaleWriteLog extends JournalList<StaleWriteLog.Target> {
    /**
     * One path.
     *
     * @param sinceMillis when the worker did not respond, since the epoch
     */
    public record Target(String path, long sinceMillis) {}

    public StaleWriteLog(VolumeJournal journal) {
        super(journal, Journal.Kind.STALE_WRITE);
    }

    @Override
    Subject subject(Target target) {
        return Subject.NONE;
    }

    @Override
    List<String> texts(Target target) {
        return List.of(target.path(), Long.toString(target.sinceMillis()));
    }

    @Override
    Target entry(Subject subject, List<String> texts) {
        return new Target(texts.get(0), Long.parseLong(texts.get(1)));
    }
}
