package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttributeEdit;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.Stat;
import org.jspecify.annotations.Nullable;

/** Takes set-user-id and set-group-id off files that somebody without privileges changes. Any thread. */
final class Privileges {
    private static final int BITS = Stat.S_ISUID | Stat.S_ISGID;

    private final VolumeContext volume;

    Privileges(VolumeContext volume) {
        this.volume = volume;
    }

    private static int left(Request request, Attr attr, int mode) {
        boolean member = request.isRoot() || request.inGroup(attr.gid());
        return Stat.withoutPrivileges(mode, member);
    }

    /** Does this request take bits off a file that is being changed? Never waits. */
    boolean goWith(Request request, Inode inode) {
        return goWith(request, volume.dirtyFiles.attr(inode));
    }

    private static boolean goWith(Request request, @Nullable Attr attr) {
        return request.killsPrivileges()
                && attr != null
                && Stat.isRegular(attr.mode())
                && (attr.mode() & BITS) != 0
                && left(request, attr, attr.mode()) != attr.mode();
    }

    /** The content was changed by this request, and is committed later. Waits where bits go. */
    void changed(Request request, Inode inode) throws StoreException {
        if (goWith(request, inode)) {
            volume.dirtyFiles.change(inode, false, attr -> {
                SetAttributes changes = new SetAttributes();
                changes.valid = SetAttributes.MODE;
                changes.mode = left(request, attr, attr.mode()) & Stat.PERMISSIONS;
                return AttributeEdit.apply(attr, changes, volume.clock.instant());
            });
        }
    }

    /**
     * Of a setattr that takes bits off: says so as a change of the mode, where there are any, and anew where more is known of the file.
     *
     * @param givesMode it gives a mode of its own
     */
    static void settle(Request request, SetAttributes changes, boolean givesMode, Attr attr) {
        changes.valid &= ~(givesMode ? SetAttributes.KILL_SUID_GID : SetAttributes.KILL_SUID_GID | SetAttributes.MODE);
        int mode = givesMode ? changes.mode : attr.mode() & Stat.PERMISSIONS;
        if ((mode & BITS) != 0 && Stat.isRegular(attr.mode())) {
            changes.valid |= SetAttributes.MODE;
            changes.mode = left(request, attr, mode);
        }
    }
}
