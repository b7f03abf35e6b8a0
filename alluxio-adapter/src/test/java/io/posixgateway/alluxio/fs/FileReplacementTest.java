package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.Moment;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A file is replaced while others list, look up, read and write it, at each moment that the master makes of it. */
class FileReplacementTest {
    private static final int FILES = 8;
    private static final long LIMIT_SECONDS = 60;
    private static final List<String> NAMES =
            IntStream.range(0, FILES).mapToObj(i -> "f" + i).toList();
    private static final Duration LONGER_THAN_BELIEVED = Duration.ofSeconds(10);
    private static final String OLD = "old content";
    private static final String NEW = "new";

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private MemoryMount mount;

    /** How it is replaced. */
    private enum Way {
        /** It is written anew. */
        WRITE {
            @Override
            void replace(MemoryMount by) {
                by.write("/f3", NEW);
            }
        },
        /** Another file is renamed to its name. */
        RENAME {
            @Override
            void replace(MemoryMount by) {
                by.write("/beside", NEW);
                by.rename("/beside", "/f3");
            }
        };

        abstract void replace(MemoryMount by);
    }

    static Stream<Arguments> waysAndMoments() {
        return Stream.of(Way.values()).flatMap(way -> Stream.of(Moment.TARGET_DROPPED, Moment.NAME_CHANGED)
                .map(moment -> Arguments.of(way, moment)));
    }

    @BeforeEach
    void makeFiles() {
        mount = MemoryMount.of(cluster);
        NAMES.forEach(name -> mount.write("/" + name, OLD));
        assertThat(mount.list("/")).as("the first listing loads the names").containsExactlyElementsOf(NAMES);
    }

    @AfterEach
    void close() {
        mount.close();
    }

    private static <T> FutureTask<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task, "onlooker");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    /** What another thread finds; its failure is this one's. */
    private static <T> T found(FutureTask<T> task) {
        try {
            return task.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** What Alluxio lists at this moment, without a gateway that knows better. */
    private static List<String> listed(Store store) {
        try {
            return store.list("/", "", 1000).truncateAtStableCursor().entries().stream()
                    .map(status -> status.name())
                    .toList();
        } catch (StoreException e) {
            throw new AssertionError(e);
        }
    }

    /** Though Alluxio lists neither the old file nor the new at that moment. */
    @ParameterizedTest
    @MethodSource("waysAndMoments")
    void list_whileFileIsReplaced_hasAllNames(Way way, Moment moment) {
        Store plain = cluster.connect();
        AtomicReference<List<String>> seen = new AtomicReference<>(List.of());
        AtomicReference<List<String>> inAlluxio = new AtomicReference<>(List.of());
        cluster.at(moment, path -> {
            cluster.clock().advance(LONGER_THAN_BELIEVED);
            mount.faults().forgetCounts();
            inAlluxio.set(listed(plain));
            seen.set(found(start(() -> mount.list("/"))));
            assertThat(mount.faults().count(StoreCall.LIST))
                    .as("it is asked for")
                    .isPositive();
        });
        way.replace(mount);
        assertThat(seen.get()).containsAll(NAMES);
        assertThat(inAlluxio.get()).as("in the order of names").isNotEqualTo(NAMES);
        assertThat(mount.list("/")).containsExactlyElementsOf(NAMES);
        assertThat(mount.read("/f3")).isEqualTo(NEW);
    }

    /** It may lack the name that another mount replaces just then, but does not keep such a listing. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void list_whileOtherMountReplacesFile_isNotKept(Way way) throws Exception {
        try (MemoryMount other =
                MemoryMount.of(cluster.connect()).with("metadata_ttl", "1h").open()) {
            assertThat(other.list("/")).containsExactlyElementsOf(NAMES);
            other.fileSystem().invalidate("/");
            CountDownLatch listed = new CountDownLatch(1);
            StoreFaults.Held beginning =
                    other.faults().on(StoreCall.LIST).after(listed::countDown).hold();
            FutureTask<List<String>> seen = start(() -> other.list("/"));
            beginning.await();
            cluster.clock().advance(Duration.ofMillis(1));
            cluster.at(Moment.TARGET_DROPPED, path -> {
                beginning.open();
                await(listed);
            });
            way.replace(mount);
            assertThat(found(seen)).doesNotContain("f3").contains("f0", "f7");
            assertThat(other.list("/")).containsExactlyElementsOf(NAMES);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** A name that is asked for is the file before or the one after. */
    @ParameterizedTest
    @MethodSource("waysAndMoments")
    void lookup_whileFileIsReplaced_findsIt(Way way, Moment moment) throws Exception {
        CompletableFuture<FutureTask<Long>> looking = new CompletableFuture<>();
        cluster.at(moment, path -> {
            cluster.clock().advance(LONGER_THAN_BELIEVED);
            looking.complete(start(() -> mount.stat("/f3").lengthBytes()));
        });
        way.replace(mount);
        assertThat(found(looking.get(LIMIT_SECONDS, TimeUnit.SECONDS))).isIn((long) OLD.length(), (long) NEW.length());
    }

    /** As the kernel does it: when the node has lost its name, the name is looked up once more. */
    private <T> T once(Callable<T> work) throws Exception {
        try {
            return work.call();
        } catch (FuseFailure e) {
            assertThat(e.errno()).isEqualTo(Errno.ESTALE);
            return work.call();
        }
    }

    /** All of it, of one content. */
    @ParameterizedTest
    @MethodSource("waysAndMoments")
    void open_whileFileIsReplaced_readsOldContentOrNew(Way way, Moment moment) throws Exception {
        CompletableFuture<FutureTask<String>> reading = new CompletableFuture<>();
        try (MemoryMount.OpenFile before = mount.open("/f3")) {
            cluster.at(moment, path -> reading.complete(start(() -> once(() -> mount.read("/f3")))));
            way.replace(mount);
            assertThat(found(reading.get(LIMIT_SECONDS, TimeUnit.SECONDS))).isIn(OLD, NEW);
            assertThat(before.readText()).isEqualTo(way == Way.RENAME ? OLD : NEW);
        }
        assertThat(mount.read("/f3")).isEqualTo(NEW);
    }

    /** What is written then is the old file's, or the new one's; neither is mixed up. */
    @ParameterizedTest
    @MethodSource("waysAndMoments")
    void write_whileFileIsReplaced_changesOneFile(Way way, Moment moment) throws Exception {
        CompletableFuture<FutureTask<String>> writing = new CompletableFuture<>();
        cluster.at(
                moment,
                path -> writing.complete(start(() -> once(() -> {
                    try (MemoryMount.OpenFile file = mount.openToWrite("/f3")) {
                        file.write("X");
                        return file.readText();
                    }
                }))));
        way.replace(mount);
        String written = found(writing.get(LIMIT_SECONDS, TimeUnit.SECONDS));
        assertThat(written).isIn("Xld content", "Xew");
        assertThat(mount.read("/f3")).isIn(NEW, "Xew");
        assertThat(mount.list("/")).containsExactlyElementsOf(NAMES);
    }
}
