package io.posixgateway.alluxio.journal;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Folders with what outlives a process. What lies there is believed and committed, so nobody else may have put it there: never a
 * known name in a folder for everybody's temporary files. Any thread.
 */
public final class StateFolder {
    private static final Path PROCESS = Path.of("/proc/self");
    private static final Set<PosixFilePermission> OWN = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> OTHERS_WRITE =
            Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

    private StateFolder() {}

    /** What lies in a folder is not believed, until an operator has looked at it. */
    public static final class NotTrusted extends IOException {
        private static final long serialVersionUID = 1;

        NotTrusted(String message) {
            super(message);
        }
    }

    /** Where the state of this user's gateways is, unless an option says otherwise. Makes nothing. */
    public static Path standard() {
        return standard(
                System.getProperty("user.name", ""),
                System.getenv("XDG_STATE_HOME"),
                home(System.getProperty("user.home", ""), System.getenv("HOME")));
    }

    /** Java does not know that of a user who is in no list of users, as in containers, and says "?". */
    static String home(String known, @Nullable String variable) {
        return known.startsWith("/") ? known : variable != null && variable.startsWith("/") ? variable : "/";
    }

    static Path standard(String user, @Nullable String stateHome, String home) {
        if (user.equals("root")) {
            return Path.of("/var/lib/posix-gateway");
        }
        boolean given = stateHome != null && stateHome.startsWith("/");
        return (given ? Path.of(stateHome) : Path.of(home, ".local", "state")).resolve("posix-gateway");
    }

    /**
     * Looks at all that is above a path: whether nobody else could put another file or folder in the place of what is there, or will be.
     *
     * @throws NotTrusted somebody could; it says who, and what to do
     * @throws IOException that cannot be found out
     */
    public static void checkAbove(Path path) throws IOException {
        PathTrust.check(path);
    }

    /**
     * Makes a folder of mode 0700, and what is missing above it, or checks the one that is there.
     *
     * @throws IOException it cannot be made; {@link NotTrusted}: it is a link, or another user's, or others may write to it, or to a
     *     folder above it
     */
    public static void make(Path folder) throws IOException {
        PathTrust.checkFolder(folder);
        makeAll(folder);
    }

    private static void makeAll(Path folder) throws IOException {
        Path parent = folder.toAbsolutePath().getParent();
        if (parent != null && Files.notExists(parent)) {
            makeAll(parent);
        }
        if (Files.notExists(folder, LinkOption.NOFOLLOW_LINKS)) {
            try {
                Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWN));
            } catch (java.nio.file.FileAlreadyExistsException made) {
                check(folder, parent);
            }
            return;
        }
        check(folder, parent);
    }

    /** The same, but one that is there is taken as it is: nothing that lies in it is believed. */
    public static void makeIfMissing(Path folder) throws IOException {
        if (Files.notExists(folder)) {
            make(folder);
        }
    }

    /**
     * Makes a folder of mode 0755, in which others look for what this process puts there, or checks the one that is there.
     *
     * @throws IOException it cannot be made; or somebody else than root and this user could put something into it, or replace it
     */
    public static void makeShown(Path folder) throws IOException {
        PathTrust.checkFolder(folder);
        if (Files.notExists(folder, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectories(folder);
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        PosixFileAttributes there = Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        String why = null;
        if (!there.isDirectory()) {
            why = "is a link, or not a folder";
        } else if (!isOfRootOrOurs(folder)) {
            why = "belongs to " + there.owner().getName() + ", another user";
        } else if (there.permissions().stream().anyMatch(OTHERS_WRITE::contains)) {
            why = "is writable by others";
        }
        if (why != null) {
            throw new IOException(
                    folder + " " + why + "; other users could place libraries there that programs load: give it to"
                            + " root or this user, with mode 0755, or remove it");
        }
    }

    /** The same of the folder that a file is to lie in. */
    static void makeParentIfMissing(Path file) throws IOException {
        Path parent = file.toAbsolutePath().getParent();
        if (parent != null) {
            makeIfMissing(parent);
        }
    }

    /** Is it there, this user's own, and no link, so that nobody else put anything there? */
    public static boolean isOwn(Path folder) {
        try {
            PosixFileAttributes there =
                    Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return there.isDirectory()
                    && uid(folder) == userOf(PROCESS)
                    && !there.permissions().contains(PosixFilePermission.OTHERS_WRITE);
        } catch (IOException missing) {
            return false;
        }
    }

    /** Opens a lock file for writing, made if need be, that nobody else may open: whoever can read a file can hold a lock on it. */
    public static FileChannel open(Path lock) throws IOException {
        FileChannel channel = FileChannel.open(
                lock,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            Files.setPosixFilePermissions(lock, PosixFilePermissions.fromString("rw-------"));
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(StateFolder.class)
                    .warn("Other users may be able to lock {}: {}", lock, e.toString());
        }
        return channel;
    }

    /** What an operator can do where this user may not use a folder, or what is in it, for a sentence to end with. */
    public static String adviceWhereDenied(Path folder) {
        return "; give the folder with all that is in it to the gateway's user, and let that user enter the folders above it:"
                + " chown -R " + ownUser() + " " + folder;
    }

    private static String ownUser() {
        try {
            return String.valueOf(userOf(PROCESS));
        } catch (IOException e) {
            return "USER";
        }
    }

    private static void check(Path folder, @Nullable Path parent) throws IOException {
        PosixFileAttributes there = Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        String why = null;
        if (there.isSymbolicLink() || !there.isDirectory()) {
            why = "is a link, or not a folder";
        } else if (!isTrusted(folder, parent)) {
            why = "belongs to " + there.owner().getName() + ", another user";
        } else if (there.permissions().contains(PosixFilePermission.OTHERS_WRITE)) {
            why = "is writable by others";
        } else if (there.permissions().contains(PosixFilePermission.GROUP_WRITE)) {
            Files.setPosixFilePermissions(folder, OWN); // made with another umask
        }
        if (why != null) {
            throw new NotTrusted(
                    folder + " " + why + ", so its content is not trusted. Give a folder that this user owns, with"
                            + " mode 0700 (option spool, or --spool), or remove it");
        }
    }

    /** Ours, root's, or its parent's owner's, who could put another one there anyway. */
    private static boolean isTrusted(Path folder, @Nullable Path parent) throws IOException {
        return isOfRootOrOurs(folder) || (parent != null && uid(folder) == uid(parent) && !isForAll(parent));
    }

    /**
     * Whether a file belongs to root or to the user of this process; of a link, the link itself.
     *
     * @throws IOException there is none
     */
    public static boolean isOfRootOrOurs(Path file) throws IOException {
        int owner = uid(file);
        return owner == 0 || owner == userOf(PROCESS);
    }

    private static boolean isForAll(Path folder) throws IOException {
        return Files.getPosixFilePermissions(folder).stream().anyMatch(OTHERS_WRITE::contains);
    }

    /** By the folder that the link leads to; the link itself is root's. */
    static int userOf(Path process) throws IOException {
        return uid(process.toRealPath());
    }

    private static int uid(Path path) throws IOException {
        Object uid = Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        return uid instanceof Integer number ? number : -1;
    }
}
