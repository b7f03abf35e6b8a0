package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.FileStatus;
import org.jspecify.annotations.Nullable;

/**
 * Whether what is known of a directory's names stays when Alluxio has said how many there are, and when they changed last. This
 * mount's own changes are in both, so they are told apart: the number is kept in step with them, and {@link DirectoryTimes} knows
 * until when they moved the time. What comes in the way of the look, or ends during it, Alluxio may have counted or not. Any thread.
 */
final class KnownNames {
    private final DirectoryTimes times;

    KnownNames(DirectoryTimes times) {
        this.times = times;
    }

    /**
     * @param before what was known of the directory; null: nothing
     * @param issued {@link Generation#issued} before Alluxio was asked
     * @param nowNanos when it has answered, by the volume's clock
     * @return can all that changed be of this mount?
     */
    boolean stay(Inode directory, @Nullable Attr before, FileStatus said, long issued, long nowNanos) {
        Dentries names = directory.dentries();
        int uncounted = names.uncounted(directory.isNewerThan(issued));
        boolean own = before != null
                && before.fileId() == said.id()
                && Math.abs(said.lengthBytes() - before.lengthBytes()) <= uncounted
                && times.covers(directory, before, said.modifiedMillis(), uncounted > 0);
        names.looked(nowNanos, !own || uncounted == 0);
        return own;
    }
}
