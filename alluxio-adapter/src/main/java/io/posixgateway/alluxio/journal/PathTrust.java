package io.posixgateway.alluxio.journal;

import io.posixgateway.fuse.session.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether somebody else could replace a file or folder that is believed: every folder above it, from the root on, and every link on the
 * way has to be root's or this user's, and a folder that others may write must let names be changed by their owners alone (the sticky
 * bit). Links are followed, and what they lead through is looked at, too. What is missing will be made by this process. Any thread.
 *
 * <p>With a line in the log, a group may write to such a folder, as it does to /var/local of Debian and to the folders of a project; and
 * one may belong to another user where the state below it is there already and is ours, as in the HOME of an image of another user:
 * what worked goes on, and nothing new is put there.
 *
 * <p>The root of a mount may be written by all and belong to anybody, with a line in the log: a volume of a pod (emptyDir) has mode 0777,
 * and nobody outside the pod reaches it; the spool of a gateway that runs as root in one may belong to the user that others run as. Its
 * owner is then trusted below it, too. No user can make such a mount but by FUSE, which is left out.
 */
final class PathTrust {
    private static final Logger LOG = LoggerFactory.getLogger(PathTrust.class);
    private static final Path ROOT = Path.of("/");
    private static final int FORMAT = 0170000;
    private static final int FOLDER = 0040000;
    private static final int LINK = 0120000;
    private static final int STICKY = 01000;
    private static final int GROUP_WRITE = 0020;
    private static final int OTHERS_WRITE = 0002;
    private static final int PERMISSIONS = 07777;
    private static final int MAX_LINKS = 40;
    private static final int NOBODY = -1;

    /** Folders that were logged. */
    private static final Set<Path> LOGGED = ConcurrentHashMap.newKeySet();

    private final Self self;

    PathTrust(Self self) {
        this.self = self;
    }

    /**
     * Who this process is.
     *
     * @param unmappedUid the owner that files of users show who have no number in this user namespace, where root is one of those; -1:
     *     root has its number
     */
    record Self(int uid, int gid, int unmappedUid) {
        static Self ofProcess() throws IOException {
            Entry process = Entry.of(Path.of("/proc/self").toRealPath());
            return new Self(process.uid, process.gid, unmapped());
        }

        private static int unmapped() {
            try {
                boolean mapsRoot = Files.readAllLines(Path.of("/proc/self/uid_map")).stream()
                        .map(line -> line.strip().split("\\s+", -1))
                        .anyMatch(columns -> columns.length == 3 && columns[1].equals("0"));
                String overflow = Files.readString(Path.of("/proc/sys/kernel/overflowuid"));
                return mapsRoot ? NOBODY : Integer.parseInt(overflow.strip());
            } catch (IOException | NumberFormatException unknown) {
                return NOBODY;
            }
        }
    }

    private record Entry(int mode, int uid, int gid) {
        static Entry of(Path path) throws IOException {
            Map<String, Object> found = Files.readAttributes(path, "unix:mode,uid,gid", LinkOption.NOFOLLOW_LINKS);
            return new Entry(number(found, "mode"), number(found, "uid"), number(found, "gid"));
        }

        private static int number(Map<String, Object> found, String name) {
            return found.get(name) instanceof Integer number ? number : NOBODY;
        }

        boolean is(int format) {
            return (mode & FORMAT) == format;
        }
    }

    /**
     * What is looked at.
     *
     * @param stands the state that lies there was made before, by this user or root
     */
    private record Way(Path path, boolean stands) {}

    /**
     * The folder that something lies in.
     *
     * @param owner of its mount, if that was trusted as such
     * @param isForAll anybody may make something there
     */
    private record Above(int owner, boolean isForAll) {}

    /** As this process, what lies in a folder that is there, or will be made. */
    static void check(Path path) throws IOException {
        new PathTrust(Self.ofProcess()).checkAbove(path);
    }

    /** As this process, a folder that holds state. */
    static void checkFolder(Path folder) throws IOException {
        PathTrust trust = new PathTrust(Self.ofProcess());
        trust.checkAbove(new Way(folder, trust.isOurFolder(folder)));
    }

    /**
     * Looks at all that is above a path, and at a link at its end; not at what else is there.
     *
     * @throws StateFolder.NotTrusted somebody else could replace it; it says what to do
     */
    void checkAbove(Path path) throws IOException {
        Path parent = path.toAbsolutePath().getParent();
        checkAbove(new Way(path, parent != null && isOurFolder(parent)));
    }

    private boolean isOurFolder(Path folder) {
        try {
            Entry there = Entry.of(folder.toRealPath());
            return there.is(FOLDER) && (there.uid == 0 || there.uid == self.uid);
        } catch (IOException missing) {
            return false;
        }
    }

    private void checkAbove(Way way) throws IOException {
        Path path = way.path;
        Deque<String> names = new ArrayDeque<>();
        path.toAbsolutePath().forEach(name -> names.add(name.toString()));
        Path at = ROOT;
        Above above = checkFolder(way, ROOT, Entry.of(ROOT), new Above(NOBODY, false));
        int links = 0;
        while (!names.isEmpty()) {
            String name = names.remove();
            Path next = at.resolve(name).normalize();
            above = name.equals("..") ? new Above(above.owner, false) : above;
            Entry entry;
            try {
                entry = Entry.of(next);
            } catch (NoSuchFileException missing) {
                return;
            }
            if (entry.is(LINK)) {
                checkLink(path, next, entry, above, ++links);
                Path target = Files.readSymbolicLink(next);
                above = new Above(NOBODY, above.isForAll && !target.isAbsolute()); // it may lead out of that mount
                at = target.isAbsolute() ? ROOT : at;
                for (int i = target.getNameCount() - 1; i >= 0; i--) {
                    names.addFirst(target.getName(i).toString());
                }
            } else if (!names.isEmpty() && entry.is(FOLDER)) {
                above = checkFolder(way, next, entry, above);
                at = next;
            }
        }
    }

    private void checkLink(Path path, Path link, Entry entry, Above above, int links) throws IOException {
        if (links > MAX_LINKS) {
            throw new StateFolder.NotTrusted(path + " leads through more than " + MAX_LINKS + " links");
        }
        if (!isTrusted(entry, above)) {
            throw new StateFolder.NotTrusted(path + " leads through the link " + link + " of user " + entry.uid
                    + ", who could change its target: remove it, or give it to root (chown -h root " + link + ")");
        }
    }

    /**
     * Looks at one folder on the way.
     *
     * @return what counts for what is below it
     */
    private Above checkFolder(Way way, Path folder, Entry entry, Above above) throws IOException {
        boolean belongs = isTrusted(entry, above) || entry.uid == above.owner;
        boolean isForAll = (entry.mode & OTHERS_WRITE) != 0;
        int writers = (entry.mode & STICKY) != 0 ? 0 : writersBesideUs(entry);
        if (belongs && writers == 0) {
            return new Above(above.owner, isForAll);
        }
        String mode = String.format("%04o", entry.mode & PERMISSIONS);
        if (isMountRoot(folder)) {
            acceptRoot(folder, entry, mode);
            return new Above(isUnmapped(entry) ? NOBODY : entry.uid, isForAll);
        }
        if (!belongs && !way.stands) {
            throw new StateFolder.NotTrusted(way.path + " lies in " + folder + " of user " + entry.uid
                    + ", who could replace it: move it, or give that folder to root (chown root " + folder + ")");
        }
        if ((writers & OTHERS_WRITE) != 0) {
            throw new StateFolder.NotTrusted(way.path + " lies in " + folder + " of mode " + mode
                    + ", where others could replace it: move it, or chmod " + without(writers) + " " + folder);
        }
        String who = belongs ? "group " + entry.gid : "user " + entry.uid;
        accept(way.path, folder, who, mode, belongs ? "chmod g-w" : "chown root");
        return new Above(above.owner, isForAll);
    }

    private static void acceptRoot(Path folder, Entry entry, String mode) {
        if (LOGGED.add(folder)) {
            LOG.warn(
                    "{} of user {} and mode {} is trusted as the root of a mount, as volumes of pods are: if other"
                            + " processes can reach it, give it to this process's user, and chmod go-w it",
                    folder,
                    entry.uid,
                    mode);
        }
    }

    private static void accept(Path path, Path folder, String who, String mode, String mends) {
        if (LOGGED.add(folder)) {
            LOG.warn(
                    "{} lies in {} of mode {}, whose {} could replace it: if they are not trusted, move it, or {} {}",
                    path,
                    folder,
                    mode,
                    who,
                    mends,
                    folder);
        }
    }

    /**
     * Root's folders, where root has no number here, show the same owner as those of anybody without one, who then must not write, nor
     * have made it where anybody may. In one that is sticky, as /tmp is, what is ours cannot be replaced.
     */
    private boolean isTrusted(Entry entry, Above above) {
        boolean isClosed = entry.is(LINK) || (entry.mode & STICKY) != 0 || writersBesideUs(entry) == 0;
        return entry.uid == 0 || entry.uid == self.uid || (isUnmapped(entry) && !above.isForAll && isClosed);
    }

    private boolean isUnmapped(Entry entry) {
        return self.unmappedUid != NOBODY && entry.uid == self.unmappedUid;
    }

    /** The permissions of others than root and us to write. */
    private int writersBesideUs(Entry entry) {
        boolean isOurGroup = entry.gid == 0 || entry.gid == self.gid;
        return entry.mode & (isOurGroup ? OTHERS_WRITE : OTHERS_WRITE | GROUP_WRITE);
    }

    private static String without(int writers) {
        return writers == OTHERS_WRITE ? "o-w" : "go-w";
    }

    private static boolean isMountRoot(Path folder) throws IOException {
        MountTable.Mount mount = MountTable.at(folder);
        return folder.equals(ROOT) || (mount != null && !mount.type().startsWith("fuse"));
    }
}
