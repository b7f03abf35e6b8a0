package io.posixgateway.alluxio.recovery;

import io.posixgateway.alluxio.recovery.JournalFrame.Subject;
import java.util.List;
import java.util.UUID;

/**
 * Creations of files that came to nothing, and whose incomplete file may stand in Alluxio, where it is in everyone's way. One is taken off
 * when that file is gone, or somebody completed it; the next process of the volume removes those that stand in the list. Any thread.
 */
public final class CreationLog extends JournalList<CreationLog.Creation> {
    /**
     * One creation.
     *
     * @param number of the request; with the same one again Alluxio makes nothing
     * @param path where it was requested
     * @param fileId Alluxio's; 0: not known, as the response was lost
     * @param stamp attributes of the request that no other file has, in hexadecimal digits
     */
    public record Creation(UUID number, String path, long fileId, String stamp) {}

    public CreationLog(VolumeJournal journal) {
        super(journal, Journal.Kind.CREATION);
    }

    @Override
    Subject subject(Creation creation) {
        return new Subject(0, creation.fileId());
    }

    @Override
    List<String> texts(Creation creation) {
        return List.of(creation.number().toString(), creation.path(), creation.stamp());
    }

    @Override
    Creation entry(Subject subject, List<String> texts) {
        return new Creation(UUID.fromString(texts.get(0)), texts.get(1), subject.fileId(), texts.get(2));
    }
}
