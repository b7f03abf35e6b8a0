package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.fs.Background;
import io.posixgateway.fuse.conformance.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a listing shows beside changes of this mount and of others. */
class ListingMergeTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryMount mount =
            MemoryMount.of(cluster.connect()).with("metadata_ttl", "0").open();
    private final MemoryMount other =
            MemoryMount.of(cluster.connect()).with("metadata_ttl", "0").open();

    @AfterEach
    void unmount() {
        mount.close();
        other.close();
    }

    @Test
    void list_leavesOutNamesOfTheGateway() throws InterruptedException {
        mount.write("/file", "text");
        try (MemoryMount.OpenFile read = mount.open("/file")) {
            mount.unlink("/file");
            assertThat(cluster.ufs().list("/")).hasSize(1);
            assertThat(mount.list("/")).isEmpty();
            assertThat(other.list("/")).isEmpty();
            assertThat(read.readText()).isEqualTo("text");
        }
        Eventually.holds("it is removed", () -> cluster.ufs().list("/").isEmpty());
    }

    @Test
    void list_showsANewFileThatIsNotClosed() {
        try (MemoryMount.OpenFile file = mount.create("/new")) {
            file.write("text");
            assertThat(mount.list("/")).containsExactly("new");
            assertThat(other.list("/")).containsExactly("new");
        }
    }

    /** What is kept of the directory's times as it is listed counts as a change of ours. */
    @Test
    void list_showsADirectoryThatThisMountChangedAndAnotherRenamed() {
        other.mkdir("/from");
        other.mkdir("/to");
        mount.write("/from/file", "text");
        cluster.clock().advance(Duration.ofSeconds(2));
        other.rename("/from", "/to/moved");
        cluster.clock().advance(Duration.ofSeconds(2));
        assertThat(mount.list("/to")).containsExactly("moved");
        assertThat(mount.list("/to/moved")).containsExactly("file");
    }

    @Test
    void list_ofManyNames_showsEachOnce() {
        List<String> names = IntStream.range(0, 2500)
                .mapToObj(i -> String.format("f%04d", i))
                .toList();
        names.forEach(name -> cluster.ufs().write("/" + name, new byte[0]));
        assertThat(mount.list("/")).isEqualTo(names);
    }

    /** A part is merged name by name: what the writers do while it is read is in the way of their own names alone. */
    @Test
    void list_besideEightWriters_readsEachPartOnce_andKeepsIt() throws Exception {
        List<String> names = IntStream.range(0, 2500)
                .mapToObj(i -> String.format("f%04d", i))
                .toList();
        names.forEach(name -> cluster.ufs().write("/" + name, new byte[0]));
        try (MemoryMount keeps = MemoryMount.of(cluster.connect())
                        .with("metadata_ttl", "1h")
                        .open();
                Writers writers = new Writers(keeps, 8)) {
            List<String> listed = new ArrayList<>();
            // Each writer makes and removes a file while a part is under way.
            keeps.faults().on(StoreCall.LIST).always().after(writers::awaitRound);
            listed.addAll(keeps.list("/"));
            assertThat(keeps.faults().count(StoreCall.LIST)).isLessThanOrEqualTo(4);
            listed.removeIf(name -> name.startsWith("w"));
            assertThat(listed).isEqualTo(names);
            writers.stop();
            Background.listed(keeps.fileSystem());
            keeps.faults().forgetCounts();
            names.forEach(name -> keeps.lookup("/" + name));
            assertThat(keeps.faults().counts()).isEmpty();
        }
    }

    /** Programs that make and remove a file each, over and over. */
    private static final class Writers implements AutoCloseable {
        private final List<Thread> threads = new ArrayList<>();
        private final List<AtomicInteger> rounds = new ArrayList<>();
        private volatile boolean over;

        Writers(MemoryMount mount, int count) {
            for (int i = 0; i < count; i++) {
                String path = "/w" + i;
                AtomicInteger done = new AtomicInteger();
                rounds.add(done);
                Thread thread = new Thread(() -> {
                    while (!over) {
                        mount.create(path).close();
                        mount.unlink(path);
                        done.incrementAndGet();
                    }
                });
                thread.setDaemon(true);
                threads.add(thread);
                thread.start();
            }
        }

        /** Each has begun and ended a round since. */
        void awaitRound() {
            for (AtomicInteger done : rounds) {
                int before = done.get();
                try {
                    Eventually.holds("a round", () -> over || done.get() >= before + 2);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        void stop() throws InterruptedException {
            over = true;
            for (Thread thread : threads) {
                thread.join();
            }
        }

        /** They end by themselves. */
        @Override
        public void close() {
            over = true;
        }
    }

    @Test
    void list_whileThisMountReplacesAFile_showsItsName() {
        mount.write("/file", "old");
        mount.write("/new", "new");
        mount.list("/");
        List<List<String>> seen = new ArrayList<>();
        cluster.at(Moment.TARGET_DROPPED, path -> seen.add(mount.list("/")));
        mount.rename("/new", "/file");
        assertThat(seen).hasSize(1);
        assertThat(seen.get(0)).contains("file");
        assertThat(mount.list("/")).containsExactly("file");
    }

    /** The part ends before the name that is at the wrong place; the next begins with what follows there. */
    @Test
    void list_whileAnotherMountRenames_showsEveryOtherNameOnce() {
        List<String> names = IntStream.range(0, 1200)
                .mapToObj(i -> String.format("f%04d", i))
                .toList();
        names.forEach(name -> cluster.ufs().write("/" + name, new byte[0]));
        other.list("/");
        List<List<String>> seen = new ArrayList<>();
        cluster.at(Moment.NAME_CHANGED, path -> seen.add(mount.list("/")));
        other.rename("/f1000", "/z");
        List<String> others = new ArrayList<>(seen.get(0));
        others.removeAll(List.of("f1000", "z"));
        assertThat(others)
                .containsExactlyElementsOf(
                        names.stream().filter(name -> !name.equals("f1000")).toList());
    }
}
