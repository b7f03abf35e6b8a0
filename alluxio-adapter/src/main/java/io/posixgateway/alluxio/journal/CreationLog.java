package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.journal.JournalFrame.Subject;
import java.util.List;
import java.util.UUID;

/**
 * Creations of files whose incomplete file may stand in Alluxio, where it is in everyone's way: those that came to nothing, and where nothing
 * else tells the next process of them, those of files that are being written. One is taken off when that file is gone, or complete; the
 * next process of the volume removes those that stand in the list. Any thread.
 */
public final class CreationLog extends JournalList<CreationLog.Creation> {
    /**
     * One creation.
     *
     * @param number of the request; with the same one again Alluxio makes nothing
     * @param path where it was requested
     * @param fileId Alluxio's; 0: not known, as the response was lost
     * @param createdSeconds when it was made, as Alluxio says: an id alone may name another file after a format; 0: not known
     * @param stamp attributes of the request that no other file has, in hexadecimal digits; empty, where the id is known: an upload may have
     *     put the file into the under file system
     */
    public record Creation(UUID number, String path, long fileId, long createdSeconds, String stamp) {
        private static final String NO_UPLOAD = "00";

        /** One whose file came to nothing, and is to be removed. */
        public static Creation left(String path, long fileId, boolean uploaded) {
            return new Creation(UUID.randomUUID(), path, fileId, 0, uploaded ? "" : NO_UPLOAD);
        }

        /** True if an upload may have put the file into the under file system; if not, what that has there is of other clients. */
        public boolean isUploaded() {
            return fileId != 0 && stamp.isEmpty();
        }

        /** The same, whose file is known now. */
        public Creation made(long id, long millis) {
            return new Creation(number, path, id, millis / 1000, stamp);
        }
    }

    public CreationLog(VolumeJournal journal) {
        super(journal, Journal.Kind.CREATION);
    }

    @Override
    Subject subject(Creation creation) {
        return new Subject(0, creation.fileId());
    }

    @Override
    List<String> texts(Creation creation) {
        return List.of(
                creation.number().toString(),
                creation.path(),
                creation.stamp(),
                Long.toString(creation.createdSeconds()));
    }

    @Override
    Creation entry(Subject subject, List<String> texts) {
        long createdSeconds = Long.parseLong(texts.get(3));
        return new Creation(
                UUID.fromString(texts.get(0)), texts.get(1), subject.fileId(), createdSeconds, texts.get(2));
    }
}
