package io.posixgateway.alluxio.cli;

import io.posixgateway.fuse.session.MountTable.Mount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What is mounted, for commands. Never touches a mount, so a hung one does no harm. */
final class MountTable {
    private MountTable() {}

    private static CommandException unreadable(IOException e) {
        return new CommandException(
                "/proc/self/mountinfo cannot be read: " + e.getMessage() + "; mount /proc (mount -t proc proc /proc)",
                e);
    }

    /** The mounts, oldest first. */
    static List<Mount> mounts() {
        try {
            return io.posixgateway.fuse.session.MountTable.all();
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /** The topmost mount at this path. */
    static Optional<Mount> at(Path target) {
        try {
            return Optional.ofNullable(io.posixgateway.fuse.session.MountTable.at(withoutLinks(target)));
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /** The mount that a path lies in, by its names alone. */
    static Optional<Mount> holding(Path path) {
        Path whole = path.toAbsolutePath().normalize();
        try {
            return Optional.ofNullable(io.posixgateway.fuse.session.MountTable.holding(whole));
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /** The path with its folder's symbolic links resolved; the last part, which may be a hung mount, is not looked at. */
    static Path withoutLinks(Path target) {
        Path whole = target.toAbsolutePath().normalize();
        Path parent = whole.getParent();
        Path name = whole.getFileName();
        if (parent == null || name == null) {
            return whole;
        }
        try {
            return parent.toRealPath().resolve(name);
        } catch (IOException e) {
            return whole;
        }
    }
}
