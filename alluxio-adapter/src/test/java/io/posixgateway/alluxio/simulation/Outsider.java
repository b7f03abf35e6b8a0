package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.alluxio.store.StoreWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Another client of Alluxio, which nothing befalls: what it sees is what others see of the mounts. For one thread. */
final class Outsider {
    private static final int MAX_ENTRIES = 1000;
    private static final long MILLIS = 1000;
    private static final String HIDDEN = ".pgw~";

    private final MemoryCluster cluster;
    private final MemoryStore store;

    Outsider(MemoryCluster cluster) {
        this.cluster = cluster;
        this.store = cluster.connect();
    }

    /** What may not fail. */
    private interface Call {
        void run() throws StoreException;
    }

    private static void surely(Call call) {
        try {
            call.run();
        } catch (StoreException e) {
            throw new Violation("The outsider failed: " + e.getMessage(), e);
        }
    }

    /** Returns an errno; 0: it was done. */
    int execute(Step step) {
        try {
            switch (step.kind()) {
                case CREATE -> write(step.path(), step.data());
                case RENAME -> store.rename(step.path(), step.other(), true);
                case UNLINK -> store.delete(step.path());
                case CHMOD -> store.change(step.path(), new Store.Change(step.mode() & 0777, null, null, Map.of()));
                default -> throw new IllegalArgumentException(step.toString());
            }
            return 0;
        } catch (StoreException e) {
            return e.errno();
        }
    }

    private void write(String path, String content) throws StoreException {
        byte[] bytes = content.getBytes(StandardCharsets.ISO_8859_1);
        StoreWriter sink = store.create(path, 0644, Map.of(), UUID.randomUUID());
        sink.write(bytes, 0, bytes.length);
        sink.complete();
    }

    /** Empty files that it brings back at other names nobody can tell from those of a client: an administrator removes them. */
    void resumeWorker(Collection<Model> models) {
        List<String> before = emptyFiles();
        cluster.workers().get(0).resume();
        emptyFiles().stream()
                .filter(path -> !before.contains(path))
                .filter(path -> models.stream().noneMatch(model -> model.has(path)))
                .forEach(cluster.ufs()::delete);
    }

    private List<String> emptyFiles() {
        return Program.FILES.stream()
                .filter(path -> {
                    byte[] content = cluster.ufs().read(path);
                    return content != null && content.length == 0;
                })
                .toList();
    }

    void makeDirectory(String path) {
        surely(() -> store.makeDirectory(path, 0755, Map.of()));
    }

    void delete(String path) {
        surely(() -> store.delete(path));
    }

    Seen seen() {
        Seen seen = new Seen(new TreeMap<>(), new TreeMap<>());
        surely(() -> look("/", seen));
        return seen;
    }

    private void look(String directory, Seen seen) throws StoreException {
        for (FileStatus status : store.list(directory, "", MAX_ENTRIES).entries()) {
            String path = path(directory, status.name());
            if (status.name().startsWith(HIDDEN)) {
                continue;
            }
            if (status.directory()) {
                seen.contents().put(path, Model.IS_DIRECTORY);
                look(path, seen);
            } else if (status.complete()) {
                seen.contents().put(path, content(path, status));
                seen.attributes().put(path, attributes(status));
            } else {
                seen.contents().put(path, Model.INCOMPLETE);
            }
        }
    }

    /** As another mount would show them. */
    private static Map<String, String> attributes(FileStatus status) {
        PosixXattr posix = PosixXattr.decode(status.xattrs().get(PosixXattr.XATTR));
        int special = posix.has(PosixXattr.SPECIAL) ? posix.special : 0;
        boolean isTimed = posix.modifiedCounts(false, status.modifiedMillis());
        Map<String, String> attributes = new TreeMap<>(FileAttributes.ofMode(status.mode() | special));
        attributes.put(FileAttributes.OWNER, posix.ownerCounts(status.owner()) ? "" + posix.uid : status.owner());
        attributes.put(
                FileAttributes.MODIFIED, "" + (isTimed ? posix.modifiedSeconds : status.modifiedMillis() / MILLIS));
        for (String xattr : Program.XATTRS) {
            byte[] value = status.xattrs().get(xattr);
            attributes.put(xattr, value == null ? "" : new String(value, StandardCharsets.ISO_8859_1));
        }
        return attributes;
    }

    private String content(String path, FileStatus status) throws StoreException {
        ByteBuffer content = ByteBuffer.allocate((int) status.lengthBytes());
        try (StoreReader source = store.open(path, status.id())) {
            int count = 1;
            while (content.hasRemaining() && count > 0) {
                count = source.read(content.position(), content);
            }
        }
        return new String(content.array(), 0, content.position(), StandardCharsets.ISO_8859_1);
    }

    private static String path(String directory, String name) {
        return directory.equals("/") ? "/" + name : directory + "/" + name;
    }

    /** Hidden files. */
    List<String> hidden() {
        List<String> hidden = new ArrayList<>();
        surely(() -> findHidden("/", false, hidden));
        return hidden;
    }

    /** The same, those that the UFS alone has included. */
    List<String> hiddenAnywhere() {
        List<String> hidden = new ArrayList<>();
        surely(() -> findHidden("/", true, hidden));
        return hidden;
    }

    private void findHidden(String directory, boolean inUfs, List<String> hidden) throws StoreException {
        List<String> names = new ArrayList<>(inUfs ? cluster.ufs().list(directory) : List.of());
        for (FileStatus status : store.list(directory, "", MAX_ENTRIES).entries()) {
            if (status.directory()) {
                findHidden(path(directory, status.name()), inUfs, hidden);
            }
            names.add(status.name());
        }
        names.stream()
                .filter(name -> name.startsWith(HIDDEN))
                .map(name -> path(directory, name))
                .forEach(hidden::add);
    }
}
