package io.posixgateway.alluxio.store;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An under file system (UFS) in memory. The cluster uses it, and so do tests that change files behind Alluxio's back. Paths are
 * absolute. Any thread.
 *
 * <p>{@link Kind#LOCAL} is a local folder: a rename is atomic and replaces a file. {@link Kind#OBJECT_STORE} has objects alone:
 * a rename copies and deletes, is refused where the destination exists, and a directory is a prefix of keys, with or without a
 * marker object; without one it cannot be renamed. Objects have no permissions of their own. What tells one content from another
 * is the ETag of the object, which a copy keeps, unless it is made in parts. Keys are listed as XML, which lacks some characters.
 * {@link Kind#HDFS} is as a folder, but that a rename replaces nothing, and that no name has a colon.
 */
public final class MemoryUfs {
    /** What it is made of. */
    public enum Kind {
        LOCAL,
        OBJECT_STORE,
        HDFS
    }

    /** Where a local one is. */
    static final String ROOT = "/under/store";

    /** What XML 1.0 lacks. */
    private static final Pattern UNLISTED = Pattern.compile("[\\x00-\\x1F\uFFFE\uFFFF&&[^\\t\\n\\r]]");

    static final String USER = System.getProperty("user.name", "root");

    private final Kind kind;
    private final ManualClock clock;
    /** By path; directories and markers end in a slash. */
    private final NavigableMap<String, UfsFile> files = new TreeMap<>();
    /** So long an object must be to be copied in parts. */
    private volatile long partsFromBytes = Long.MAX_VALUE;

    MemoryUfs(Kind kind, ManualClock clock) {
        this.kind = kind;
        this.clock = clock;
    }

    /** A file, or what stands for a directory. */
    private static final class UfsFile {
        private final byte[] content;
        private final int mode;
        private final long modifiedMillis;
        private final String etag;

        private UfsFile(byte[] content, int mode, long modifiedMillis) {
            this(content, mode, modifiedMillis, Integer.toHexString(Arrays.hashCode(content)));
        }

        private UfsFile(byte[] content, int mode, long modifiedMillis, String etag) {
            this.content = content;
            this.mode = mode;
            this.modifiedMillis = modifiedMillis;
            this.etag = etag;
        }
    }

    /**
     * What Alluxio learns of a path.
     *
     * @param fingerprint differs where the content, as far as can be seen, does
     */
    record UfsStatus(
            boolean directory, long lengthBytes, int mode, String owner, long modifiedMillis, String fingerprint) {}

    public Kind kind() {
        return kind;
    }

    /** As clients of Alluxio tell it by its address. */
    UfsKind seenByAlluxio() {
        return UfsKind.valueOf(kind.name());
    }

    /** Has it directories, owners and modes of its own? */
    private boolean hasFolders() {
        return kind != Kind.OBJECT_STORE;
    }

    /** From now on objects of so many bytes, and longer ones, are copied in parts, which gives the copy another ETag. */
    public void copyInPartsFrom(long bytes) {
        partsFromBytes = bytes;
    }

    /** Is the path short enough? */
    boolean takes(String path) {
        int bytes = path.getBytes(StandardCharsets.UTF_8).length;
        return switch (kind) {
            case LOCAL -> ROOT.length() + bytes < 4096;
            case OBJECT_STORE -> bytes <= 1024;
            case HDFS -> bytes <= 8000 && path.indexOf(':') < 0;
        };
    }

    synchronized @Nullable UfsStatus status(String path) {
        if (!takes(path)) {
            return null;
        }
        UfsFile file = files.get(path);
        boolean local = hasFolders();
        String owner = local ? USER : "";
        if (file != null) {
            return status(file, owner);
        }
        UfsFile directory = files.get(key(path));
        if (directory == null && !path.equals("/") && !hasBelow(path)) {
            return null;
        }
        int mode = directory == null || !local ? (local ? 0755 : 0700) : directory.mode;
        return new UfsStatus(true, 0, mode, owner, directory == null ? clock.millis() : directory.modifiedMillis, "");
    }

    private UfsStatus status(UfsFile file, String owner) {
        boolean local = hasFolders();
        String fingerprint = local ? file.content.length + "@" + file.modifiedMillis : file.etag;
        return new UfsStatus(
                false, file.content.length, local ? file.mode : 0700, owner, file.modifiedMillis, fingerprint);
    }

    private static String key(String directory) {
        return directory.equals("/") ? "/" : directory + "/";
    }

    private NavigableMap<String, UfsFile> below(String directory) {
        String prefix = key(directory);
        return files.subMap(prefix, false, prefix + Character.MAX_VALUE, false);
    }

    private boolean hasBelow(String directory) {
        return !below(directory).isEmpty();
    }

    public synchronized boolean exists(String path) {
        return status(path) != null;
    }

    /** The names in a directory. */
    public synchronized List<String> list(String directory) {
        int from = key(directory).length();
        return below(directory).keySet().stream()
                .map(path -> path.substring(from))
                .map(path -> path.indexOf('/') < 0 ? path : path.substring(0, path.indexOf('/')))
                .map(name -> hasFolders() ? name : UNLISTED.matcher(name).replaceAll("\uFFFD"))
                .distinct()
                .toList();
    }

    /** Null: there is no such file. */
    public synchronized byte @Nullable [] read(String path) {
        UfsFile file = files.get(path);
        return file == null ? null : file.content.clone();
    }

    /** Puts a whole file there, in one step, and the directories above it. */
    public synchronized void write(String path, byte[] content) {
        write(path, content, 0644);
    }

    synchronized void write(String path, byte[] content, int mode) {
        if (hasFolders()) {
            makeDirectory(parent(path), 0755);
        }
        files.put(path, new UfsFile(content.clone(), mode, clock.millis()));
    }

    /** And those above it. */
    public synchronized void makeDirectory(String path) {
        makeDirectory(path, 0755);
    }

    synchronized void makeDirectory(String path, int mode) {
        if (path.equals("/") || files.containsKey(key(path))) {
            return;
        }
        if (hasFolders()) {
            makeDirectory(parent(path), 0755);
        }
        files.put(key(path), new UfsFile(new byte[0], mode, clock.millis()));
    }

    synchronized void setMode(String path, int mode) {
        for (String name : List.of(path, key(path))) {
            files.computeIfPresent(name, (key, file) -> new UfsFile(file.content, mode, file.modifiedMillis));
        }
    }

    /** A file, or a directory with all that is below it; false: nothing is there. */
    public synchronized boolean delete(String path) {
        boolean there = exists(path);
        files.remove(path);
        files.remove(key(path));
        below(path).clear();
        return there;
    }

    /** False: it was refused, and nothing changed. */
    synchronized boolean rename(String from, String to) {
        UfsStatus source = status(from);
        if (source == null || !takes(to) || (hasFolders() && !exists(parent(to)))) {
            return false;
        }
        return source.directory ? renameDirectory(from, to) : renameFile(from, to);
    }

    private boolean renameFile(String from, String to) {
        UfsStatus there = status(to);
        if (there != null && (kind != Kind.LOCAL || there.directory)) {
            return false;
        }
        UfsFile file = files.remove(from);
        files.put(to, hasFolders() ? file : copied(file));
        return true;
    }

    private UfsFile copied(UfsFile file) {
        String etag = file.content.length < partsFromBytes ? file.etag : file.etag + "-parts";
        return new UfsFile(file.content, file.mode, clock.millis(), etag);
    }

    private boolean renameDirectory(String from, String to) {
        boolean refused = kind == Kind.LOCAL
                ? files.containsKey(to) || hasBelow(to)
                : exists(to) || !files.containsKey(key(from));
        if (refused) {
            return false;
        }
        List<Map.Entry<String, UfsFile>> moved = new ArrayList<>(below(from).entrySet().stream()
                .map(entry -> Map.entry(entry.getKey(), entry.getValue()))
                .toList());
        UfsFile directory = files.remove(key(from));
        below(from).clear();
        if (directory != null) {
            files.put(key(to), directory);
        }
        for (Map.Entry<String, UfsFile> entry : moved) {
            files.put(to + entry.getKey().substring(from.length()), entry.getValue());
        }
        return true;
    }

    static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash <= 0 ? "/" : path.substring(0, slash);
    }
}
