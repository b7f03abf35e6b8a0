package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The gateway is killed at each boundary between two of its calls while it replaces a file, by a commit and by a rename, and the
 * next one goes on: what was acknowledged is there, under its name, and nothing hidden is left.
 */
class KilledReplacementTest {
    private static final int MAX_CALLS = 60;
    private static final String OLD = "old";
    private static final String NEW = "new content";
    private static final int MODE = 0640;
    private static final String FILE = "/dir/file";
    private static final String TEMPORARY = "/dir/temporary";

    private final Path folder;
    private int folders;

    KilledReplacementTest(@TempDir Path folder) {
        this.folder = folder;
    }

    /** What befalls the master meanwhile. */
    private enum Master {
        LIVES,
        /** It is killed while it copies, and comes back at once. */
        DIES_IN_THE_COPY,
        /** The same before its journal says that it has deleted what was there. */
        DIES_BEFORE_THE_JOURNAL,
        /** It is killed when the store has done all of it, before its journal says anything. */
        DIES_AFTER_THE_COPY
    }

    /** What the next gateway has to go on with. */
    private enum Next {
        /** The mount, which outlived the process. */
        KEPT,
        /** A new mount, with the folder of the old one. */
        NEW_MOUNT
    }

    static Stream<Arguments> ways() {
        return Stream.of(
                Arguments.of(MemoryUfs.Kind.LOCAL, Next.KEPT, Master.LIVES),
                Arguments.of(MemoryUfs.Kind.OBJECT_STORE, Next.KEPT, Master.LIVES),
                Arguments.of(MemoryUfs.Kind.OBJECT_STORE, Next.KEPT, Master.DIES_IN_THE_COPY),
                Arguments.of(MemoryUfs.Kind.OBJECT_STORE, Next.NEW_MOUNT, Master.LIVES),
                Arguments.of(MemoryUfs.Kind.OBJECT_STORE, Next.NEW_MOUNT, Master.DIES_IN_THE_COPY),
                Arguments.of(MemoryUfs.Kind.OBJECT_STORE, Next.NEW_MOUNT, Master.DIES_BEFORE_THE_JOURNAL),
                Arguments.of(MemoryUfs.Kind.OBJECT_STORE, Next.KEPT, Master.DIES_AFTER_THE_COPY),
                Arguments.of(MemoryUfs.Kind.OBJECT_STORE, Next.NEW_MOUNT, Master.DIES_AFTER_THE_COPY),
                Arguments.of(MemoryUfs.Kind.HDFS, Next.KEPT, Master.LIVES),
                Arguments.of(MemoryUfs.Kind.HDFS, Next.KEPT, Master.DIES_IN_THE_COPY),
                Arguments.of(MemoryUfs.Kind.HDFS, Next.NEW_MOUNT, Master.DIES_BEFORE_THE_JOURNAL),
                Arguments.of(MemoryUfs.Kind.HDFS, Next.NEW_MOUNT, Master.DIES_AFTER_THE_COPY));
    }

    private Path newFolder() {
        return folder.resolve("folder-" + ++folders);
    }

    /** One life and death of a gateway, and what comes after. */
    private final class Trial implements AutoCloseable {
        private final MemoryCluster cluster;
        private final Next how;
        private final MemoryStore outside;
        private final MemoryMount killed;

        private Trial(MemoryUfs.Kind kind, Next how, Master master) {
            this.cluster = new MemoryCluster(kind);
            this.how = how;
            this.outside = cluster.connect();
            MemoryMount.Builder builder = MemoryMount.of(cluster.connect());
            this.killed = how == Next.KEPT
                    ? builder.openPersistent(newFolder(), null)
                    : builder.in(newFolder()).open();
            killed.mkdir("/dir");
            killed.write(FILE, OLD);
            killed.requests().chmod(killed.lookup(FILE).id(), MODE);
            killed.requests().setxattr(killed.lookup(FILE).id(), "user.a", "1");
            if (master == Master.DIES_AFTER_THE_COPY) {
                killed.faults().on(StoreCall.RENAME).dieAfterTheCopy();
            } else if (master != Master.LIVES) {
                killed.faults().on(StoreCall.RENAME).dieInTheCopy(master == Master.DIES_IN_THE_COPY);
            }
        }

        private MemoryMount next() {
            MemoryMount.Builder builder = MemoryMount.of(cluster.connect());
            if (how == Next.KEPT) {
                return builder.openPersistent(newFolder(), killed);
            }
            Path left = newFolder();
            killed.leaveTo(left);
            return builder.in(left).open();
        }

        private boolean hasAny(Predicate<String> test) throws StoreException {
            return Stream.concat(
                            outside.list("/dir", "", 100).entries().stream().map(FileStatus::name),
                            cluster.ufs().list("/dir").stream())
                    .anyMatch(test);
        }

        /** Others find the name again, with its mode, and nothing that is hidden, or in Alluxio alone. */
        private void awaitRecovery() throws Exception {
            Eventually.holds("the file has its name and mode, and no hidden one is left", () -> {
                try {
                    FileStatus there = outside.compared(FILE);
                    return there.complete()
                            && there.mode() == MODE
                            && cluster.ufs().exists(FILE)
                            && !hasAny(name ->
                                    name.startsWith(".pgw~") || !cluster.ufs().exists("/dir/" + name));
                } catch (StoreException e) {
                    return false;
                }
            });
        }

        private void assertIs(MemoryMount mount, String path, String content) throws StoreException {
            assertThat(mount.read(path)).isEqualTo(content);
            assertThat(cluster.ufs().read(path)).asString().isEqualTo(content);
        }

        /** The file is as it was, or as it was to be. */
        private void assertWhole(MemoryMount mount) throws StoreException {
            String content = mount.read(FILE);
            assertThat(content).isIn(OLD, NEW);
            assertIs(mount, FILE, content);
            assertKept(mount);
        }

        private void assertKept(MemoryMount mount) {
            assertThat(mount.stat(FILE).mode() & 0777).isEqualTo(MODE);
            assertThat(mount.requests().getxattr(mount.lookup(FILE).id(), "user.a"))
                    .isEqualTo("1");
        }

        @Override
        public void close() {
            killed.kill();
            killed.close();
        }
    }

    /** One boundary; false: there was no such, as the work was done before. */
    private interface Boundary {
        boolean at(int calls, boolean heard) throws Exception;
    }

    private static void each(Boundary boundary) throws Exception {
        for (int calls = 0; calls < MAX_CALLS; calls++) {
            for (boolean heard : List.of(false, true)) {
                try {
                    if ((calls > 0 || heard) && !boundary.at(calls, heard)) {
                        assertThat(calls).as("calls it takes").isGreaterThan(2);
                        return;
                    }
                } catch (Exception | AssertionError e) {
                    throw new AssertionError("killed after " + calls + " calls, heard of the last: " + heard, e);
                }
            }
        }
        throw new AssertionError("it took more than " + MAX_CALLS + " calls");
    }

    @ParameterizedTest
    @MethodSource("ways")
    void commit_killedAtEachBoundary_isFinishedOrUndone(MemoryUfs.Kind kind, Next next, Master master)
            throws Exception {
        each((calls, heard) -> {
            try (Trial trial = new Trial(kind, next, master)) {
                return commit(trial, calls, heard);
            }
        });
    }

    private boolean commit(Trial trial, int calls, boolean heard) throws Exception {
        OpenFile file = trial.killed.openToWrite(FILE);
        file.truncate(0);
        file.write(NEW);
        trial.killed.killAfter(calls, heard, newFolder());
        boolean acknowledged = succeeds(() -> trial.killed.requests().flush(file.opened()));
        if (acknowledged) {
            trial.killed.requests().release(file.opened());
        }
        if (!trial.killed.isKilled()) {
            trial.assertIs(trial.killed, FILE, NEW);
            trial.assertKept(trial.killed);
            return false;
        }
        try (MemoryMount next = trial.next()) {
            trial.awaitRecovery();
            if (trial.how == Next.KEPT) {
                assertThat(next.read(FILE)).isEqualTo(NEW);
                next.inherited(file).close();
                trial.awaitRecovery();
                trial.assertIs(next, FILE, NEW);
            } else if (acknowledged) {
                trial.assertIs(next, FILE, NEW);
            }
            trial.assertWhole(next);
            assertThat(next.list("/dir")).containsExactly("file");
        }
        return true;
    }

    @ParameterizedTest
    @MethodSource("ways")
    void rename_killedAtEachBoundary_isFinishedOrUndone(MemoryUfs.Kind kind, Next next, Master master)
            throws Exception {
        each((calls, heard) -> {
            try (Trial trial = new Trial(kind, next, master)) {
                return rename(trial, calls, heard);
            }
        });
    }

    private boolean rename(Trial trial, int calls, boolean heard) throws Exception {
        trial.killed.write(TEMPORARY, NEW);
        trial.killed.requests().chmod(trial.killed.lookup(TEMPORARY).id(), MODE);
        trial.killed.requests().setxattr(trial.killed.lookup(TEMPORARY).id(), "user.a", "1");
        trial.killed.killAfter(calls, heard, newFolder());
        boolean acknowledged = succeeds(() -> trial.killed.rename(TEMPORARY, FILE));
        if (!trial.killed.isKilled()) {
            trial.assertIs(trial.killed, FILE, NEW);
            return false;
        }
        try (MemoryMount next = trial.next()) {
            trial.awaitRecovery();
            trial.assertWhole(next);
            if (!acknowledged && trial.how == Next.KEPT) {
                repeat(() -> next.rename(TEMPORARY, FILE));
            }
            if (acknowledged || trial.how == Next.KEPT) {
                trial.assertIs(next, FILE, NEW);
                assertThat(next.list("/dir")).containsExactly("file");
            } else if (next.exists(TEMPORARY)) {
                trial.assertIs(next, TEMPORARY, NEW);
            } else {
                trial.assertIs(next, FILE, NEW);
            }
            trial.assertWhole(next);
            trial.awaitRecovery();
        }
        return true;
    }

    private static boolean succeeds(Runnable work) {
        try {
            work.run();
            return true;
        } catch (FuseFailure e) {
            return false;
        }
    }

    /** As the kernel sends again what was not answered; what is not there any more was done. */
    private static void repeat(Runnable work) {
        try {
            work.run();
        } catch (FuseFailure e) {
            assertThat(e.errno()).isEqualTo(Errno.ENOENT);
        }
    }
}
