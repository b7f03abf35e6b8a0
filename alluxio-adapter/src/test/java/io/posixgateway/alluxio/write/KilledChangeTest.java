package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.conformance.Eventually;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * In an object store, the gateway is killed at each boundary between two calls of each kind of change, and Alluxio's master with it, and
 * the next one continues: no acknowledged byte is lost, no name is missing, nothing hidden is left. {@link KilledReplacementTest} has
 * what replaces a file.
 */
class KilledChangeTest {
    private static final boolean ALL = Boolean.getBoolean("pgw.killed.all");

    private static final int MAX_CALLS = 120;
    /** A gateway settles at once what it can, the rest within some seconds of its clock; its threads may wait for a processor. */
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Path folder;
    private int folders;

    KilledChangeTest(@TempDir Path folder) {
        this.folder = folder;
    }

    /** What happens to the master. */
    private enum Master {
        LIVES,
        /** It is away while the gateway is. */
        RESTARTS,
        /** It is killed when the store has renamed an object, before its journal says so. */
        DIES_AFTER_THE_COPY,
        /** It is killed before it does anything of a rename. */
        DIES_BEFORE
    }

    /** What the next gateway continues with. */
    private enum Next {
        /** The mount, which outlived the process: the kernel sends again what was not answered. */
        KEPT,
        /** The volume's folder, after the node rebooted. */
        RETURNED,
        /** A new mount, with the spool folder of the old one. */
        NEW_MOUNT
    }

    static Stream<Arguments> ways() {
        return Stream.of(Change.values()).flatMap(change -> Stream.of(Master.values())
                .filter(master -> change.copies() || master == Master.LIVES || master == Master.RESTARTS)
                .flatMap(master -> Stream.of(Next.values())
                        .filter(next -> next == Next.KEPT || master != Master.RESTARTS)
                        .filter(next -> isShort(change, next, master))
                        .map(next -> Arguments.of(change, next, master))));
    }

    /** Renames of directories take most of the time: all of their ways are part of the long form. */
    private static boolean isShort(Change change, Next next, Master master) {
        boolean ofFiles = !change.ofDirectory();
        boolean isAlone = change == Change.DIRECTORY && next == Next.KEPT;
        return ALL || ofFiles || (isAlone && master != Master.DIES_BEFORE);
    }

    /** One life and death of a gateway, and what comes after. */
    private final class Trial implements AutoCloseable {
        private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        private final MemoryStore outside = cluster.connect();
        private final Change change;
        private final Next how;
        private final Master master;
        private final MemoryMount killed;
        private final Change.Session session;

        private Trial(Change change, Next how, Master master) {
            this.change = change;
            this.how = how;
            this.master = master;
            MemoryMount.Builder builder = MemoryMount.of(cluster.connect());
            this.killed =
                    how == Next.NEW_MOUNT ? builder.in(newFolder()).open() : builder.openPersistent(newFolder(), null);
            this.session = new Change.Session(killed);
            change.prepare(killed);
            StoreFaults.Fault rename = killed.faults().on(StoreCall.RENAME);
            if (master == Master.DIES_AFTER_THE_COPY) {
                rename.dieAfterTheCopy();
            } else if (master == Master.DIES_BEFORE) {
                rename.loseRequest();
            }
        }

        private Path newFolder() {
            return folder.resolve("folder-" + ++folders);
        }

        private MemoryMount next() {
            MemoryMount.Builder builder = MemoryMount.of(cluster.connect());
            if (how == Next.KEPT) {
                return builder.openPersistent(newFolder(), killed);
            }
            if (how == Next.RETURNED) {
                return builder.openReturned(newFolder(), killed);
            }
            Path left = newFolder();
            killed.leaveTo(left);
            return builder.in(left).open();
        }

        /** Sends the request; time passes until it is answered. */
        private void send(Change.Request request) throws Exception {
            AsyncCall call = AsyncCall.start(() -> request.send(session));
            Eventually.holds("it is answered", () -> {
                if (!call.isDone()) {
                    cluster.clock().advance(Duration.ofMillis(100));
                }
                return call.isDone();
            });
            call.await();
        }

        /** How many requests were answered before the gateway was killed. */
        private int answered() {
            for (int i = 0; i < change.requests.size(); i++) {
                Change.Request request = change.requests.get(i);
                boolean first = isAnswered(request);
                boolean answered = first || isAnswered(request);
                if (killed.isDead()) {
                    return i;
                }
                assertThat(answered).as("fails no more when it is sent again").isTrue();
            }
            return change.requests.size();
        }

        private boolean isAnswered(Change.Request request) {
            try {
                request.send(session);
                return true;
            } catch (FuseFailure e) {
                assertThat(killed.isDead() || master == Master.DIES_BEFORE)
                        .as("nothing makes it fail: %s", e.getMessage())
                        .isTrue();
                return killed.isDead();
            }
        }

        private Map<String, String> seen() throws StoreException {
            Map<String, String> files = new TreeMap<>();
            see("", files);
            return files;
        }

        /** In Alluxio and in the store: what either has alone is as a file with such a content. */
        private void see(String directory, Map<String, String> files) throws StoreException {
            List<String> inStore = new ArrayList<>(cluster.ufs().list(directory.isEmpty() ? "/" : directory));
            for (FileStatus status :
                    outside.list(directory.isEmpty() ? "/" : directory, "", 100).entries()) {
                String path = directory + "/" + status.name();
                boolean known = inStore.remove(status.name());
                if (status.directory()) {
                    see(path, files);
                    if (path.startsWith("/tree")) {
                        files.put(path, "an old directory");
                    }
                    if (status.xattrs().containsKey(PosixXattr.MOVED_FROM)) {
                        files.put(path, "being moved");
                    }
                } else if (status.complete()) {
                    byte[] content = cluster.ufs().read(path);
                    files.put(
                            path,
                            !known || content == null
                                    ? "in Alluxio alone"
                                    : new String(content, StandardCharsets.UTF_8));
                } else {
                    files.put(path, "incomplete");
                }
            }
            inStore.forEach(name -> files.put(directory + "/" + name, "in the store alone"));
        }

        /** Others see no more than that, and nothing hidden. */
        private void awaitSeen(String what, List<Map<String, String>> allowed) throws Exception {
            Map<String, String> last = new TreeMap<>();
            try {
                Eventually.holds(what, LIMIT, () -> {
                    cluster.clock().advance(Duration.ofMillis(500));
                    last.clear();
                    last.putAll(seen());
                    return allowed.contains(last);
                });
            } catch (AssertionError e) {
                assertThat(last).as(what).isIn(allowed);
            }
        }

        /** What is done behind the answers is done, too, or the gateway is killed in it. */
        private void awaitDone() throws Exception {
            killed.dropCaches();
            Eventually.holds("it is done", () -> {
                cluster.clock().advance(Duration.ofMillis(500));
                return killed.isDead() || seen().equals(change.after);
            });
        }

        private void assertShows(MemoryMount mount, Map<String, String> files) {
            files.forEach((path, content) -> {
                assertThat(mount.read(path)).as(path).isEqualTo(content);
                if (!path.equals("/dir/new")) {
                    assertThat(mount.stat(path).mode() & 0777).as(path).isEqualTo(Change.MODE);
                    assertThat(mount.requests().getxattr(mount.lookup(path).id(), "user.a"))
                            .as(path)
                            .isEqualTo("1");
                }
            });
        }

        @Override
        public void close() {
            killed.kill();
            killed.close();
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void change_killedAtEachBoundary_isFinishedOrUndone(Change change, Next next, Master master) throws Exception {
        for (int calls = 0; calls < MAX_CALLS; calls++) {
            for (boolean heard : List.of(false, true)) {
                try (Trial trial = new Trial(change, next, master)) {
                    if ((calls > 0 || heard) && !isKilled(trial, calls, heard)) {
                        assertThat(calls).as("calls it takes").isGreaterThan(1);
                        return;
                    }
                } catch (Exception | AssertionError e) {
                    throw new AssertionError("killed after " + calls + " calls, heard of the last: " + heard, e);
                }
            }
        }
        throw new AssertionError("it took more than " + MAX_CALLS + " calls");
    }

    /** False: the change was done before. */
    private static boolean isKilled(Trial trial, int calls, boolean heard) throws Exception {
        trial.killed.killAfter(calls, heard, trial.newFolder());
        int answered = trial.answered();
        if (!trial.killed.isDead()) {
            trial.awaitDone();
        }
        if (!trial.killed.isKilled()) {
            trial.assertShows(trial.killed, trial.change.after);
            return false;
        }
        if (trial.master == Master.RESTARTS) {
            trial.cluster.stopMaster();
        }
        try (MemoryMount next = trial.next()) {
            trial.cluster.startMaster();
            Eventually.holds("who asked while it was away has its answer", () -> !isMasterAsked());
            trial.session.mount = next;
            if (trial.how == Next.KEPT) {
                goOn(trial, answered);
            } else {
                lookAgain(trial, answered);
            }
        }
        return true;
    }

    /** Requests that come meanwhile share the answer. */
    private static boolean isMasterAsked() {
        return Thread.getAllStackTraces().values().stream().flatMap(Stream::of).anyMatch(frame -> frame.getClassName()
                .endsWith(".SharedRequest"));
    }

    /** The program does not notification. */
    private static void goOn(Trial trial, int answered) throws Exception {
        OpenFile open = trial.session.open;
        trial.session.open = open == null ? null : trial.session.mount.inherited(open);
        for (Change.Request request : trial.change.requests.subList(answered, trial.change.requests.size())) {
            trial.send(request);
        }
        trial.session.mount.dropCaches();
        trial.awaitSeen("it is done in the end", List.of(trial.change.after));
        trial.assertShows(trial.session.mount, trial.change.after);
    }

    /** The program is gone. */
    private static void lookAgain(Trial trial, int answered) throws Exception {
        MemoryMount mount = trial.session.mount;
        Change change = trial.change;
        boolean acknowledged = answered >= change.acknowledged;
        trial.seen(); // as others do, whom Alluxio shows what it finds in the store
        if (change.ofDirectory() && !acknowledged && mount.exists("/tree")) {
            Change.Request again = change.requests.get(0);
            trial.send(again);
            acknowledged = true;
        }
        List<Map<String, String>> allowed = new ArrayList<>(List.of(change.after));
        if (!acknowledged) {
            allowed.add(change.before());
        }
        if (change == Change.CREATION && trial.how == Next.NEW_MOUNT && !acknowledged) {
            Map<String, String> begun = change.before();
            begun.put("/dir/new", "incomplete");
            allowed.add(begun);
        }
        trial.awaitSeen("it is finished or undone", allowed);
        Map<String, String> files = trial.seen();
        files.values().removeIf("incomplete"::equals);
        trial.assertShows(mount, files);
    }
}
