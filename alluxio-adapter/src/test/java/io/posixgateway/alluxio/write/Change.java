package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a program does to files of a mount, request by request, so that it can be continued with whatever process serves the mount. */
@SuppressWarnings("ImmutableEnumChecker") // nothing changes its map and list
enum Change {
    CREATION(
            3,
            Map.of(Change.FILE, Change.OLD, "/dir/new", Change.NEW),
            session -> session.create("/dir/new"),
            session -> session.open().write(Change.NEW),
            Session::flush,
            Session::close),
    APPEND(
            3,
            Map.of(Change.FILE, Change.OLD + " more"),
            session -> session.open = session.mount.openToWrite(Change.FILE),
            session -> session.open().write(Change.OLD.length(), " more".getBytes(StandardCharsets.UTF_8)),
            session -> session.open().fsync(),
            Session::flush,
            Session::close),
    TRUNCATION(1, Map.of(Change.FILE, "ol"), session -> session.mount.truncate(Change.FILE, 2)),
    RENAME_TO_FREE(
            1,
            Map.of("/other/name", Change.OLD),
            session -> session.rename(Change.FILE, "/other/name", Stat.RENAME_NOREPLACE)),
    UNLINK_OF_OPEN(
            2,
            Map.of(),
            session -> session.open = session.mount.open(Change.FILE),
            session -> session.unlink(Change.FILE),
            Session::close),
    DIRECTORY(
            1,
            Map.of("/new/a", "content of a", "/new/sub/b", "content of b", Change.FILE, Change.OLD),
            session -> session.rename("/tree", "/new", Stat.RENAME_NOREPLACE)),
    DIRECTORY_OVER_EMPTY(
            1,
            Map.of("/empty/a", "content of a", "/empty/sub/b", "content of b", Change.FILE, Change.OLD),
            session -> session.rename("/tree", "/empty", 0));

    /** Of all files. */
    static final int MODE = 0640;

    /** A file of each. */
    static final String FILE = "/dir/file";

    static final String OLD = "old";
    static final String NEW = "new content";

    /** With the answer to so many requests it is acknowledged. */
    final int acknowledged;

    /** Contents by path, afterwards. */
    final Map<String, String> after;

    final List<Request> requests;

    Change(int acknowledged, Map<String, String> after, Request... requests) {
        this.acknowledged = acknowledged;
        this.after = new TreeMap<>(after);
        this.requests = List.of(requests);
    }

    boolean ofDirectory() {
        return this == DIRECTORY || this == DIRECTORY_OVER_EMPTY;
    }

    boolean copies() {
        return ofDirectory() || this == RENAME_TO_FREE || this == UNLINK_OF_OPEN;
    }

    /** Contents by path. */
    Map<String, String> before() {
        Map<String, String> files = new TreeMap<>(Map.of(FILE, OLD));
        if (ofDirectory()) {
            files.putAll(Map.of("/tree/a", "content of a", "/tree/sub/b", "content of b"));
        }
        return files;
    }

    void prepare(MemoryMount mount) {
        Stream.of("/dir", "/other").forEach(mount::mkdir);
        if (ofDirectory()) {
            Stream.of("/tree", "/tree/sub").forEach(mount::mkdir);
        }
        if (this == DIRECTORY_OVER_EMPTY) {
            mount.mkdir("/empty");
        }
        before().forEach((path, content) -> {
            mount.write(path, content);
            mount.requests().chmod(mount.lookup(path).id(), MODE);
            mount.requests().setxattr(mount.lookup(path).id(), "user.a", "1");
        });
    }

    /** A request of a program, to whatever process serves the mount. */
    interface Request {
        void send(Session session);
    }

    /** A program with at most one open file. */
    static final class Session {
        MemoryMount mount;

        @Nullable
        OpenFile open;

        Session(MemoryMount mount) {
            this.mount = mount;
        }

        private OpenFile open() {
            OpenFile file = open;
            if (file == null) {
                throw new IllegalStateException("nothing is open");
            }
            return file;
        }

        private void create(String path) {
            try {
                open = mount.create(path);
            } catch (FuseFailure e) {
                if (e.errno() != Errno.EEXIST) {
                    throw e;
                }
                open = mount.openToWrite(path); // as one that is not exclusive, sent again
            }
        }

        private void rename(String from, String to, int flags) {
            try {
                mount.rename(from, to, flags);
            } catch (FuseFailure e) {
                if (e.errno() != Errno.ENOENT || mount.exists(from)) {
                    throw e;
                } // it was done
            }
        }

        private void flush() {
            mount.requests().flush(open().opened());
        }

        /** The gateway may be killed in what it does behind the answer: that is not asked for again. */
        private void close() {
            if (open != null) {
                open.close();
                open = null;
            }
        }

        private void unlink(String path) {
            try {
                mount.unlink(path);
            } catch (FuseFailure e) {
                if (e.errno() != Errno.ENOENT) {
                    throw e;
                }
            }
        }
    }
}
