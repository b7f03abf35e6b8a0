package io.posixgateway.alluxio.store;

import io.posixgateway.alluxio.client.StoreParts;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.store.FuseRequests.Opened;
import io.posixgateway.alluxio.store.FuseRequests.Place;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.time.Clock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A mount without a kernel: paths in, raw FUSE requests through the real dispatcher to a real {@link AlluxioFileSystem} over a
 * {@link MemoryCluster}. Nothing is cached on this side: each path is looked up name by name, each time. Any thread.
 */
public final class MemoryMount implements AutoCloseable {
    private static final int PIECE_BYTES = 1 << 20;

    private final MemoryStore store;
    private final Path folder;
    private final boolean ownsFolder;
    private final RecordingKernel kernel;
    private final AlluxioFileSystem fileSystem;
    private final FuseRequests requests;
    /** What its folder held when its process was killed. */
    private volatile @Nullable Path remains;

    /** How a mount is to be. */
    public static final class Builder {
        private final MemoryStore store;
        private final Map<String, String> options = new HashMap<>();
        private String path = "/";
        private @Nullable Path spool;
        private boolean passthrough;
        private boolean gathersWrites;
        private boolean readOnly;
        private Runnable left = () -> {};
        private Clock clock;
        private AlluxioMount.@Nullable Shared shared;

        private Builder(MemoryStore store) {
            this.store = store;
            this.clock = store.memory().clock();
        }

        /** As on the command line: {@code with("metadata_ttl", "0")}. */
        public Builder with(String option, String value) {
            options.put(option, value);
            return this;
        }

        /** The path of the store that is mounted. */
        public Builder at(String mounted) {
            path = mounted;
            return this;
        }

        /** The kernel reads files by itself that it is given. */
        public Builder passingThrough() {
            passthrough = true;
            return this;
        }

        /** The kernel's writeback cache is on. */
        public Builder gatheringWrites() {
            gathersWrites = true;
            return this;
        }

        /** The kernel lets nobody change anything. */
        public Builder readOnly() {
            readOnly = true;
            return this;
        }

        /** The time it goes by, which is the cluster's, too. */
        public Builder by(Clock time) {
            clock = time;
            return this;
        }

        /** Beside others of one process. */
        public Builder beside(AlluxioMount.Shared others) {
            shared = others;
            return by(others.clock());
        }

        /** What happens once there is a copy of what the earlier process kept. */
        public Builder afterLeaving(Runnable act) {
            left = act;
            return this;
        }

        private RecordingKernel kernel() {
            return new RecordingKernel(passthrough, gathersWrites, readOnly);
        }

        /** The folder with what it spools and hides, which others may have used before; it stays. */
        public Builder in(Path folder) {
            spool = folder;
            return this;
        }

        public MemoryMount open() {
            try {
                Path folder = spool == null ? Files.createTempDirectory("memory-mount-") : spool;
                return new MemoryMount(this, folder, opened(folder), kernel());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (StoreException e) {
                throw new FuseFailure(path, e.errno());
            }
        }

        private AlluxioFileSystem opened(Path folder) throws StoreException {
            return AlluxioMount.open(
                    StoreParts.metered(store, clock),
                    path,
                    options(folder),
                    shared == null ? AlluxioMount.Shared.ofOne(clock) : shared);
        }

        private AdapterOptions options(Path folder) {
            Map<String, String> all = new HashMap<>(options);
            all.put("spool", folder.toString());
            return AdapterOptions.of(AdapterOptions.TABLE.read(all));
        }

        /**
         * One that outlives its process: what it keeps is in this folder, which is to be new.
         *
         * @param earlier the mount of the process before, which was killed: what it kept is copied, as it holds its own folder
         *     for as long as this JVM lives; null: there was none
         */
        public MemoryMount openPersistent(Path folder, @Nullable MemoryMount earlier) {
            return openPersistent(folder, earlier, earlier != null);
        }

        /** One whose node, or kernel session, ended with the process of this mount: the folder is there, and a new kernel. */
        public MemoryMount openReturned(Path folder, MemoryMount earlier) {
            return openPersistent(folder, earlier, false);
        }

        private MemoryMount openPersistent(Path folder, @Nullable MemoryMount earlier, boolean kernelGoesOn) {
            in(folder);
            try {
                if (earlier != null) {
                    earlier.leaveTo(folder);
                }
                left.run();
                AlluxioMount.Opening how = new AlluxioMount.Opening(StoreParts.metered(store, clock), kernelGoesOn);
                AlluxioFileSystem opened = AlluxioMount.openPersistent(
                        new AlluxioOptions("", path, "", Map.of()), options(folder), how, clock);
                resume(opened, kernelGoesOn);
                RecordingKernel known = kernelGoesOn && earlier != null ? earlier.kernel : kernel();
                return new MemoryMount(this, folder, opened, known);
            } catch (StoreException e) {
                throw new FuseFailure(path, e.errno());
            }
        }
    }

    /** As a process does that cannot serve. */
    private static void resume(AlluxioFileSystem opened, boolean kernelGoesOn) throws StoreException {
        try {
            opened.resume(kernelGoesOn);
        } catch (StoreException e) {
            opened.leaveToNext();
            opened.close();
            throw e;
        }
    }

    /** A mount of this client. */
    public static Builder of(MemoryStore store) {
        return new Builder(store);
    }

    /** A mount of the whole cluster, with default options. */
    public static MemoryMount of(MemoryCluster cluster) {
        return of(cluster.connect()).open();
    }

    private MemoryMount(Builder builder, Path folder, AlluxioFileSystem fileSystem, RecordingKernel kernel) {
        this.store = builder.store;
        this.folder = folder;
        this.ownsFolder = builder.spool == null;
        this.fileSystem = fileSystem;
        this.kernel = kernel;
        this.requests = new FuseRequests(fileSystem, kernel, builder.clock);
        fileSystem.started(kernel);
    }

    /** The client behind it, its faults and counts. */
    public MemoryStore store() {
        return store;
    }

    public StoreFaults faults() {
        return store.faults();
    }

    /** What the kernel was told. */
    public RecordingKernel kernel() {
        return kernel;
    }

    public AlluxioFileSystem fileSystem() {
        return fileSystem;
    }

    /** Single requests, by nodes and handles. */
    public FuseRequests requests() {
        return requests;
    }

    private FuseNode root() {
        return requests.getattr(FuseRequests.ROOT);
    }

    /** Looks up each name of the path; ENOENT. */
    public FuseNode lookup(String path) {
        FuseNode at = null;
        for (String name : names(path)) {
            at = requests.lookup(at == null ? FuseRequests.ROOT : at.id(), name);
            if (at.id() == 0) {
                throw FuseRequests.missing(path);
            }
        }
        return at == null ? root() : at;
    }

    private static List<String> names(String path) {
        List<String> names = new ArrayList<>(List.of(path.split("/", -1)));
        names.removeIf(String::isEmpty);
        return names;
    }

    private Place place(String path) {
        int slash = path.lastIndexOf('/');
        String above = path.substring(0, Math.max(0, slash));
        long parent = names(above).isEmpty() ? FuseRequests.ROOT : lookup(above).id();
        return new Place(parent, path.substring(slash + 1));
    }

    /** As stat(2). */
    public FuseNode stat(String path) {
        return requests.getattr(lookup(path).id());
    }

    public boolean exists(String path) {
        try {
            return lookup(path).id() != 0;
        } catch (FuseFailure e) {
            if (e.errno() == Errno.ENOENT) {
                return false;
            }
            throw e;
        }
    }

    /** An open file. Closing it sends FLUSH, and RELEASE whatever that answers, as close(2) does. */
    public final class OpenFile implements AutoCloseable {
        private final Opened opened;

        private OpenFile(Opened opened) {
            this.opened = opened;
        }

        public Opened opened() {
            return opened;
        }

        public OpenFile write(long offset, byte[] data) {
            for (int at = 0; at < data.length; at += PIECE_BYTES) {
                byte[] piece = java.util.Arrays.copyOfRange(data, at, Math.min(data.length, at + PIECE_BYTES));
                requests.write(opened, offset + at, piece);
            }
            return this;
        }

        public OpenFile write(String text) {
            return write(0, text.getBytes(StandardCharsets.UTF_8));
        }

        public byte[] readAll() {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] piece = requests.read(opened, 0, PIECE_BYTES);
            while (piece.length > 0) {
                all.writeBytes(piece);
                piece = requests.read(opened, all.size(), PIECE_BYTES);
            }
            return all.toByteArray();
        }

        public String readText() {
            return new String(readAll(), StandardCharsets.UTF_8);
        }

        public void truncate(long lengthBytes) {
            requests.truncate(opened, lengthBytes);
        }

        public long lengthBytes() {
            return requests.getattr(opened.node().id()).lengthBytes();
        }

        public void fsync() {
            requests.fsync(opened);
        }

        @Override
        public void close() {
            try {
                requests.flush(opened);
            } finally {
                requests.release(opened);
                referNoMore(opened.node().id());
            }
        }
    }

    private OpenFile referring(Opened opened) {
        kernel.refer(opened.node().id());
        return new OpenFile(opened);
    }

    private void referNoMore(long node) {
        kernel.referNoMore(node);
        forgetIfUnused(node);
    }

    /** The kernel forgets a node without a name as soon as nothing refers to it. */
    private void forgetIfUnused(long node) {
        long lookups = kernel.unusedLookups(node);
        if (lookups > 0) {
            requests.forget(node, lookups);
        }
    }

    private void lost(Place place) {
        forgetIfUnused(kernel.lost(place));
    }

    /** A bind mount of a file, or a descriptor of O_PATH: the kernel goes on knowing the node, whatever becomes of its name. */
    public final class Bound implements AutoCloseable {
        private final FuseNode node;

        private Bound(FuseNode node) {
            this.node = node;
        }

        public long node() {
            return node.id();
        }

        public OpenFile open(int flags) {
            return referring(requests.open(node, flags));
        }

        /** As {@code cat} of where it is bound. */
        public String read() {
            try (OpenFile file = open(Stat.O_RDONLY)) {
                return file.readText();
            }
        }

        /** As {@code printf text > } of where it is bound. */
        public void write(String text) {
            try (OpenFile file = open(Stat.O_RDWR)) {
                file.truncate(0);
                file.write(text);
            }
        }

        public FuseNode stat() {
            return requests.getattr(node.id());
        }

        /** It refers to it no more. */
        @Override
        public void close() {
            referNoMore(node.id());
        }
    }

    public Bound bind(String path) {
        FuseNode node = lookup(path);
        kernel.refer(node.id());
        return new Bound(node);
    }

    /** One that was bound on the mount of an earlier process. */
    public Bound inherited(Bound earlier) {
        return new Bound(earlier.node);
    }

    /** As open(2) with O_CREAT and O_EXCL, for reading and writing. */
    public OpenFile create(String path) {
        Place place = place(path);
        int flags = Stat.O_RDWR | Stat.O_CREAT | Stat.O_EXCL;
        return referring(requests.create(place.parent(), place.name(), 0644, flags));
    }

    /** One that a program opened on the mount of an earlier process. */
    public OpenFile inherited(OpenFile earlier) {
        return new OpenFile(earlier.opened);
    }

    public OpenFile open(String path) {
        return referring(requests.open(lookup(path), Stat.O_RDONLY));
    }

    public OpenFile openToWrite(String path) {
        return referring(requests.open(lookup(path), Stat.O_RDWR));
    }

    /** As {@code echo text > path}: made, or truncated and written anew. */
    public void write(String path, String text) {
        if (!exists(path)) {
            try (OpenFile file = create(path)) {
                file.write(text);
            }
            return;
        }
        try (OpenFile file = openToWrite(path)) {
            requests.truncate(file.opened.node().id(), 0);
            file.write(text);
        }
    }

    /** As {@code cat path}. */
    public String read(String path) {
        try (OpenFile file = open(path)) {
            return file.readText();
        }
    }

    public void mkdir(String path) {
        Place place = place(path);
        requests.mkdir(place.parent(), place.name(), 0755);
    }

    public void unlink(String path) {
        Place place = place(path);
        requests.unlink(place.parent(), place.name());
        lost(place);
    }

    public void rmdir(String path) {
        Place place = place(path);
        requests.rmdir(place.parent(), place.name());
        lost(place);
    }

    /** As rename(2). */
    public void rename(String from, String to) {
        rename(from, to, 0);
    }

    public void rename(String from, String to, int flags) {
        Place source = place(from);
        Place target = place(to);
        requests.rename(source, target, flags);
        if (!source.equals(target)) {
            lost(target);
            kernel.moved(source, target);
        }
    }

    /** As {@code ls}: all names but . and .., in the order in which they were listed. */
    public List<String> list(String path) {
        return names(lookup(path));
    }

    /** As {@code ls} of where a directory is bound, or of a working directory. */
    public List<String> namesOf(Bound directory) {
        return names(directory.node);
    }

    private List<String> names(FuseNode listed) {
        List<String> names = new ArrayList<>();
        Opened directory = requests.opendir(listed);
        List<FuseRequests.Listed> part = requests.readdir(directory, 0);
        while (!part.isEmpty()) {
            part.stream().map(FuseRequests.Listed::name).forEach(names::add);
            part = requests.readdir(directory, part.get(part.size() - 1).nextOffset());
        }
        requests.releasedir(directory);
        names.removeIf(name -> name.equals(".") || name.equals(".."));
        return names;
    }

    /** The kernel forgets all nodes, as when its caches are dropped. */
    public void dropCaches() {
        kernel.known().forEach(requests::forget);
    }

    /** As truncate(2). */
    public void truncate(String path, long lengthBytes) {
        requests.truncate(lookup(path).id(), lengthBytes);
    }

    /** Its process is killed: from now on nothing that it does reaches the cluster. */
    public void kill() {
        store.faults().dieNow();
    }

    /**
     * Its process is killed when it has sent so many more calls; what it keeps stays as it is then.
     *
     * @param heard true: when it is about to send the next one; false: before it hears of the last one, which is done
     * @param left gets a copy of its folder; it is to be new
     */
    public void killAfter(int calls, boolean heard, Path left) {
        store.faults().dieAfter(calls, heard, () -> {
            LiveFolder.copy(folder, left);
            LiveFolder.copy(
                    folder, left); // what was there when the last file was copied, but not when the folder was listed
            remains = left;
        });
    }

    /** Was it, by {@link #killAfter}, by now? */
    public boolean isDead() {
        return remains != null;
    }

    /** Was it, by {@link #killAfter}? If not, it lives on. */
    public boolean isKilled() {
        store.faults().dieAfter(Integer.MAX_VALUE, false, () -> {});
        return remains != null;
    }

    /** The folder with what it spools and keeps. */
    public Path folder() {
        return folder;
    }

    /** Ends it as an unmount does, and removes its folder where it was given none. */
    @Override
    public void close() {
        requests.close();
        fileSystem.close();
        if (!ownsFolder || !Files.exists(folder)) {
            return; // a kept volume that nobody needs any more removes its own
        }
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(java.util.Comparator.reverseOrder()).forEach(MemoryMount::deleteQuietly);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Copies what it keeps, for the next process: a journal that a process locks is of another one then. */
    public void leaveTo(Path target) {
        Path left = remains;
        LiveFolder.copy(left == null ? folder : left, target);
        try (Stream<Path> files = Files.list(target)) {
            for (Path journal : files.toList()) {
                String name = journal.getFileName().toString();
                Files.move(journal, journal.resolveSibling(name.replaceFirst("^journal-", "journal-killed.")));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void deleteQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
