package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.client.AlluxioStore;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads what the first requests of a session will need, before they come: our own classes, and those of Alluxio's client by a
 * call to an address where nobody listens. For a process that waits for its turn, and for the class-data archive. Has no
 * effect that anybody could see, and takes seconds.
 */
public final class JvmWarmup {
    private static final Logger LOG = LoggerFactory.getLogger(JvmWarmup.class);
    private static final String OURS = "io/posixgateway/";
    private static final String CLASS = ".class";
    private static final String NOBODY = "127.0.0.1:1";
    /** One refused attempt loads all; more would only take their time. */
    private static final Map<String, String> ONE_ATTEMPT = Map.of("alluxio.user.rpc.retry.max.duration", "100ms");

    private static final Set<Name> DOTS = Set.of(Name.of("."), Name.of(".."));
    private static final int NAMES = 8;
    private static final int LEVELS = 3;
    private static final int ROUNDS = 25;
    private static final long MAX_NANOS = 3_000_000_000L;
    private static final int READ_BYTES = 64 << 10;

    private JvmWarmup() {}

    /**
     * Does what programs will do with a volume, some hundred calls within a few seconds: attributes of a few files of its
     * root, or of the first folders in it, and their beginning. What fails is left out.
     */
    static void use(FileSystem files, Clock clock) {
        long end = clock.nanos() + MAX_NANOS;
        List<Place> few = new ArrayList<>();
        gather(files, FileSystem.ROOT, LEVELS, few);
        ByteBuffer bytes = ByteBuffer.allocateDirect(READ_BYTES);
        for (int round = 0; round < ROUNDS && clock.nanos() - end < 0; round++) {
            few.removeIf(file -> clock.nanos() - end < 0 && !visited(files, file, bytes.clear()));
        }
    }

    /** A name in a directory. */
    private record Place(long directory, Name name) {}

    /** Files of a directory, as far as they are few, else of those in it. What is looked up is kept until the end. */
    private static void gather(FileSystem files, long directory, int levels, List<Place> few) {
        OpenReply open = new OpenReply();
        if (files.opendir(InternalRequest.INSTANCE, directory, 0, open) != 0) {
            return;
        }
        First first = new First();
        files.readdir(InternalRequest.INSTANCE, directory, open.handle, 0, first);
        files.releasedir(InternalRequest.INSTANCE, directory, open.handle);
        first.regular.forEach(name -> few.add(new Place(directory, name)));
        for (Name name : first.directories) {
            Entry entry = new Entry();
            if (few.size() < NAMES
                    && levels > 1
                    && files.lookup(InternalRequest.INSTANCE, directory, name, entry) == 0
                    && entry.node != 0) {
                gather(files, entry.node, levels - 1, few);
            }
        }
    }

    /** False: not again. Others may be at work on the file. */
    private static boolean visited(FileSystem files, Place file, ByteBuffer bytes) {
        Entry entry = new Entry();
        if (files.lookup(InternalRequest.INSTANCE, file.directory(), file.name(), entry) != 0 || entry.node == 0) {
            return false;
        }
        OpenReply open = new OpenReply();
        boolean opened = files.getattr(InternalRequest.INSTANCE, entry.node, 0, entry.attributes) == 0
                && Stat.isRegular(entry.attributes.mode)
                && files.open(InternalRequest.INSTANCE, entry.node, Stat.O_RDONLY, open) == 0;
        int count = -1;
        if (opened) {
            count = files.read(InternalRequest.INSTANCE, entry.node, open.handle, 0, bytes);
            files.release(InternalRequest.INSTANCE, entry.node, open.handle);
        }
        files.forget(entry.node, 1);
        return count >= 0;
    }

    /** The first names of a listing. */
    private static final class First implements DirectoryWriter {
        private final List<Name> regular = new ArrayList<>();
        private final List<Name> directories = new ArrayList<>();

        @Override
        public boolean plus() {
            return false;
        }

        @Override
        public boolean add(Name name, long nextOffset, long inode, int type) {
            if (Stat.isRegular(type)) {
                regular.add(name.copy());
            } else if (Stat.isDirectory(type) && directories.size() < NAMES && !DOTS.contains(name)) {
                directories.add(name.copy());
            }
            return regular.size() < NAMES;
        }

        @Override
        public boolean add(Name name, long nextOffset, Entry entry) {
            return add(name, nextOffset, entry.attributes.inode, entry.attributes.mode);
        }
    }

    /**
     * Begins, on a thread of its own, with what takes longest of a start: Alluxio's table of properties and its client. By
     * the time that the command line is read and the keeper has answered, it is there.
     */
    public static void begin() {
        Thread thread = new Thread(() -> openNobody().close(), "client-loading");
        thread.setDaemon(true);
        thread.start();
    }

    /** What fails here will fail again where it matters, and is said there. */
    public static void run() {
        List.of(FuseSession.class, JvmWarmup.class).forEach(JvmWarmup::load);
        callNobody();
    }

    /** All classes of the jar that this one is in. */
    private static void load(Class<?> member) {
        try {
            Path jar = Path.of(
                    member.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isRegularFile(jar)) {
                try (JarFile file = new JarFile(jar.toFile())) {
                    file.stream().map(Object::toString).forEach(JvmWarmup::load);
                }
            }
        } catch (IOException | URISyntaxException e) {
            LOG.debug("Classes are loaded when they are needed", e);
        }
    }

    private static void load(String entry) {
        if (!entry.startsWith(OURS) || !entry.endsWith(CLASS)) {
            return;
        }
        String name = entry.substring(0, entry.length() - CLASS.length()).replace('/', '.');
        try {
            Class.forName(name, false, JvmWarmup.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            LOG.debug("Class {} is loaded when it is needed", name, e);
        }
    }

    private static void callNobody() {
        try (Store store = openNobody()) {
            store.status("/");
        } catch (StoreException e) {
            LOG.debug("No response, as expected", e);
        }
    }

    private static Store openNobody() {
        try {
            return AlluxioStore.open(new StoreOptions(NOBODY, "", "CACHE_THROUGH", true, ONE_ATTEMPT), Clock.system());
        } catch (StoreException e) {
            throw new IllegalStateException("fixed properties are refused", e);
        }
    }
}
