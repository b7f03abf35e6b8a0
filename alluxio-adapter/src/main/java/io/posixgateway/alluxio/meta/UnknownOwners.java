package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.posix.IdMapper;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.fuse.spi.Stat;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files whose owner and mode Alluxio made up, as objects of a bucket have none. Any thread; never waits.
 *
 * <p>Alluxio gives an object that it does not know the mode 0700 and, where the permissions of the bucket are not asked for
 * ({@code alluxio.underfs.s3.inherit.acl=false}), no owner and no group. So nobody but root could use what another client of the bucket put
 * there. A mount that was given a group (a pod's fsGroup, or the option gid) shows such a file with the owner's permissions for that group,
 * too, as Kubernetes has it for other volumes. Where there is an owner, his mode holds. The kernel checks permissions and reports no
 * refusal, so the first file that is of no use for anybody is reported when it is seen.
 */
final class UnknownOwners {
    private static final Logger LOG = LoggerFactory.getLogger(UnknownOwners.class);
    private static final int MADE_UP_MODE = 0700;
    private static final int OF_OTHERS = 077;

    private final int gid;
    private final AtomicBoolean reported = new AtomicBoolean();

    /** @param gid that the mount shows for every file, or {@link AttrDecoder#AS_ALLUXIO_SAYS} */
    UnknownOwners(int gid) {
        this.gid = gid;
    }

    /** The permissions to show. */
    int permissions(FileStatus status) {
        int mode = status.mode();
        return gid != AttrDecoder.AS_ALLUXIO_SAYS && isMadeUp(status) ? mode | (mode & MADE_UP_MODE) >> 3 : mode;
    }

    /** Nobody owns it, and no mount of ours made it or changed it. */
    private static boolean isMadeUp(FileStatus status) {
        return status.mode() == MADE_UP_MODE
                && status.xattrs().isEmpty()
                && status.owner().isEmpty()
                && status.group().isEmpty();
    }

    /**
     * Reports a file that only root can use, as this host does not know its owner. Once.
     *
     * @param mode that is shown
     * @param uid that is shown
     */
    void look(FileStatus status, int mode, int uid) {
        boolean useless = uid == IdMapper.NOBODY && (mode & OF_OTHERS) == 0 && !Stat.isSymlink(mode);
        if (useless && reported.compareAndSet(false, true)) {
            LOG.warn("{}", line(status));
        }
    }

    static String line(FileStatus status) {
        return "Only root can use '" + status.name() + "' and other files with mode "
                + String.format("%04o", status.mode()) + " and "
                + (status.owner().isEmpty()
                        ? "no owner"
                        : "the owner '" + status.owner() + "', who is unknown on this host,")
                + " in Alluxio, for example objects that other clients put into a bucket: all other users get EACCES."
                + " Set the mount options uid and gid (in Kubernetes, the volume attributes uid and gid, or the pod's"
                + " fsGroup), which then apply to all files, or set alluxio.underfs.s3.default.mode on Alluxio's"
                + " masters";
    }
}
