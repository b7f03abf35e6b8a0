package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The folder of one kept volume, held by one process at a time. */
public final class VolumeStateDir implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeStateDir.class);
    private static final String NODES = "nodes";
    private static final String ROOT = "root";
    private static final String PASSTHROUGH = "passthrough";
    private static final String PAGES = "pages";
    private static final String BLOCKS = "blocks";
    private static final String VOLUME = "volume";
    private static final String RESERVE = "reserve";
    private static final String FOREIGN = "foreign-nodes";
    /** Of a session alone: they go with it. */
    private static final List<String> OWN = List.of(
            NODES,
            NODES + ".new",
            ROOT,
            PASSTHROUGH,
            PAGES,
            BLOCKS,
            RESERVE,
            FOREIGN,
            SessionMark.FILE,
            SessionMark.FRESH);

    private final Path path;
    private final VolumeLock lock;
    private final NodeIdRemapLog nodes;
    private final VolumeJournal journal;
    private final BackingFileLog passthrough;
    private final PageCacheVersions pages;
    private final SessionMark session;

    private VolumeStateDir(
            Path path,
            VolumeLock lock,
            NodeIdRemapLog nodes,
            VolumeJournal journal,
            BackingFileLog passthrough,
            SessionMark session) {
        this.path = path;
        this.lock = lock;
        this.nodes = nodes;
        this.journal = journal;
        this.passthrough = passthrough;
        this.pages = new PageCacheVersions(path.resolve(PAGES));
        this.session = session;
    }

    /**
     * Makes it if need be, and waits a few seconds for an earlier process to let go of it. On a disk that takes nothing it is read as it
     * is: files can be read then, and changes fail with the disk's error until it takes something again.
     *
     * @throws StoreException EBUSY: another process serves the volume; EPERM: the folder cannot be used before an operator has done
     *     something
     */
    public static VolumeStateDir open(Path path) throws StoreException {
        VolumeLock lock = null;
        try {
            make(path);
            lock = VolumeLock.take(path);
            Reserve reserve = new Reserve(path, RESERVE);
            NodeIdRemapLog nodes = NodeIdRemapLog.open(path.resolve(NODES), reserve);
            VolumeJournal journal = VolumeJournal.own(path, clusterId(path), reserve);
            BackingFileLog passthrough = BackingFileLog.open(path.resolve(PASSTHROUGH));
            new SetAside(path).prepare();
            reserve.fill();
            journal.servedBy(passthrough.generation() + 1L, Files.exists(path.resolve(VOLUME)));
            return new VolumeStateDir(path, lock, nodes, journal, passthrough, new SessionMark(path, reserve));
        } catch (StateFolder.NotTrusted e) {
            close(lock);
            throw new StoreException(Errno.EPERM, "The volume's state folder " + e.getMessage(), e);
        } catch (IOException e) {
            close(lock);
            String advice = e instanceof AccessDeniedException ? StateFolder.adviceWhereDenied(path) : "";
            throw StoreException.ofThisNode(
                    Errno.EPERM, "The volume's state folder " + path + " cannot be used (" + e + ")" + advice, e);
        } catch (StoreException e) {
            close(lock);
            throw e;
        }
    }

    private static void make(Path path) throws IOException {
        try {
            StateFolder.make(path);
        } catch (IOException e) {
            if (!DiskErrno.takesNothing(e)) {
                throw e;
            }
            LOG.error(
                    "{} cannot be written ({}): until it can, the volume's files can be read but not changed",
                    path,
                    e.toString());
        }
    }

    public Path path() {
        return path;
    }

    public NodeIdRemapLog nodes() {
        return nodes;
    }

    public VolumeJournal journal() {
        return journal;
    }

    /** Which session the state here is of. */
    public SessionMark session() {
        return session;
    }

    /** The file id of the volume's root as last seen; empty: never seen. A hint: the root is what is at its path. */
    public OptionalLong rootId() {
        try {
            byte[] bytes = Files.readAllBytes(path.resolve(ROOT));
            return bytes.length == Long.BYTES
                    ? OptionalLong.of(ByteBuffer.wrap(bytes).getLong())
                    : OptionalLong.empty();
        } catch (IOException missing) {
            return OptionalLong.empty();
        }
    }

    /** Remembers it for the next process. */
    public void rootIs(long fileId) {
        try {
            Files.write(
                    path.resolve(ROOT),
                    ByteBuffer.allocate(Long.BYTES).putLong(fileId).array());
        } catch (IOException e) {
            LOG.warn("The next process will have to look up the root of {} again: {}", path, e.toString());
        }
    }

    /** What the records here are of; null: not known. */
    @Nullable
    VolumeIdentity identity() {
        return VolumeIdentity.read(path.resolve(VOLUME));
    }

    /**
     * Remembers it for the next process. First in its own file: a journal that names an Alluxio where that file is missing was left to an
     * earlier version.
     */
    void identityIs(VolumeIdentity identity) {
        try {
            identity.write(path.resolve(VOLUME));
        } catch (IOException e) {
            LOG.warn(
                    "The next process will not know to which Alluxio the records of {} belong: {}", path, e.toString());
        }
        journal.clusterIs(identity.clusterId());
    }

    /**
     * Which nodes of the session are of another Alluxio than the one that answers.
     *
     * @param clusterId of the one that answers
     * @param began the generation of nodes that it began with
     */
    public record Nodes(String clusterId, int began) {}

    /** Null: none are; or that cannot be read. */
    public @Nullable Nodes foreignNodes() {
        try {
            String[] words = Files.readString(path.resolve(FOREIGN)).strip().split(" ", -1);
            return new Nodes(words[1], Integer.parseInt(words[0]));
        } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException missing) {
            return null;
        }
    }

    /** Remembers it for the next process; false, and a line in the log: that is not possible. */
    public boolean foreignNodesAre(Nodes nodes) {
        passthrough.generationIs(nodes.began());
        journal.servedBy(nodes.began() + 1L, true);
        try {
            Files.writeString(path.resolve(FOREIGN), nodes.began() + " " + nodes.clusterId() + "\n");
            return true;
        } catch (IOException e) {
            LOG.warn(
                    "The next process will treat all nodes of {} as those of another Alluxio cluster: {}",
                    path,
                    e.toString());
            return false;
        }
    }

    /** The cluster id of the Alluxio that the records here are of; empty: not known. */
    public String clusterId() {
        return clusterId(path);
    }

    private static String clusterId(Path path) {
        VolumeIdentity identity = VolumeIdentity.read(path.resolve(VOLUME));
        return identity == null ? "" : identity.clusterId();
    }

    /** Where a worker of this host was last seen to keep its block files; null: nowhere, or that is gone. A hint. */
    public @Nullable Path blockFolder() {
        try {
            Path folder = Path.of(Files.readString(path.resolve(BLOCKS)));
            return Files.isDirectory(folder) ? folder : null;
        } catch (IOException | InvalidPathException missing) {
            return null;
        }
    }

    /** Remembers it for the next process. */
    public void blockFolderIs(Path folder) {
        try {
            Files.writeString(path.resolve(BLOCKS), folder.toString());
        } catch (IOException e) {
            LOG.warn("The next process will have to look up the block files of {} again: {}", path, e.toString());
        }
    }

    /**
     * From now on it is used.
     *
     * @param goesOn does the kernel still know what an earlier process told it?
     */
    public void begin(boolean goesOn) {
        pages.begin(goesOn);
        if (!goesOn) {
            passthrough.clear();
            forgetForeignNodes();
        }
    }

    /** The kernel is a new one, which knows no node. */
    private void forgetForeignNodes() {
        try {
            Files.deleteIfExists(path.resolve(FOREIGN));
        } catch (IOException e) {
            LOG.warn("Removing a state file failed: {}", e.toString());
        }
    }

    public BackingFileLog passthrough() {
        return passthrough;
    }

    public PageCacheVersions pages() {
        return pages;
    }

    /** Lets go of it; what it holds stays. */
    @Override
    public void close() {
        nodes.close();
        journal.close();
        passthrough.close();
        close(lock);
    }

    /** Lets go of it for good; content that is not in Alluxio stays, for an operator or the volume's next session, and is named. */
    public void discard() {
        nodes.close();
        journal.servedBy(0, true);
        journal.close();
        passthrough.close();
        try {
            String kept = remove();
            if (!kept.isEmpty()) {
                LOG.warn(
                        "{} still has {} that could not be uploaded before the volume ended: the volume's next"
                                + " session on this node uploads them; if the volume is deleted, copy them where they"
                                + " belong, then remove the folder",
                        path,
                        kept);
            }
        } catch (IOException e) {
            LOG.warn("Removing {} failed: {}", path, e.toString());
        }
        close(lock);
    }

    /** What stays, in words. */
    private String remove() throws IOException {
        for (String own : OWN) {
            Files.deleteIfExists(path.resolve(own));
        }
        VolumeJournal.removeFresh(path);
        String kept = new Remains(path, Set.of(VOLUME, VolumeLock.FILE)).clear();
        if (!hasRecords()) {
            Files.deleteIfExists(path.resolve(VOLUME));
        }
        Files.deleteIfExists(
                path.resolve(VolumeLock.FILE)); // a session of an earlier version may use the folder from here on
        if (kept.isEmpty()) {
            Files.deleteIfExists(path);
        }
        return kept;
    }

    private boolean hasRecords() throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.anyMatch(Remains::isRecord);
        }
    }

    private static void close(java.io.@Nullable Closeable resource) {
        if (resource != null) {
            try {
                resource.close();
            } catch (IOException e) {
                LOG.warn("Closing failed: {}", e.toString());
            }
        }
    }
}
