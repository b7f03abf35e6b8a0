package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.meta.PathLocks;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.FuseRequests.Opened;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.conformance.Stacks;
import io.posixgateway.fuse.spi.Stat;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names are taken away while files of those names, or below them, are on their way to Alluxio. */
class RenameConcurrencyTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int FILES = 12;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private MemoryMount mount(String ttl) {
        return MemoryMount.of(cluster.connect()).with("metadata_ttl", ttl).open();
    }

    /** Work on a thread of its own. */
    private record Started<T>(FutureTask<T> task) {
        static <T> Started<T> start(Callable<T> work) {
            FutureTask<T> task = new FutureTask<>(work);
            Thread thread = new Thread(task, "beside");
            thread.setDaemon(true);
            thread.start();
            return new Started<>(task);
        }

        T get() throws Exception {
            return task.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Each of these waits until a name above it has moved, or those below it are done; or it is done itself. */
    private static void awaitBlockedOrDone(List<? extends Started<?>> all) {
        try {
            Waiting.until("each waits or is done", LIMIT, () -> {
                long left = all.stream().filter(one -> !one.task().isDone()).count();
                return waiting() >= left;
            });
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static long waiting() {
        return Stacks.threadsIn(PathLocks.class, "awaitTrue");
    }

    private static Opened create(MemoryMount mount, long parent, String name) {
        return mount.requests().create(parent, name, 0644, Stat.O_WRONLY | Stat.O_CREAT | Stat.O_EXCL);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The last close is heard of after close(2) returned: when the file may be gone, or have another name. */
    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void release_afterNameWasTakenAway_doesNotBringItBack(boolean written, boolean moved) {
        try (MemoryMount mount = mount("1h")) {
            for (int round = 0; round < 3; round++) {
                Opened file = create(mount, FuseRequests.ROOT, "file");
                if (written) {
                    mount.requests().write(file, 0, bytes("content"));
                }
                mount.requests().flush(file);
                if (moved) {
                    mount.rename("/file", "/moved");
                }
                mount.unlink(moved ? "/moved" : "/file");
                mount.requests().release(file);
                assertThat(mount.list("/")).isEmpty();
                assertThat(cluster.ufs().list("/")).isEmpty();
            }
        }
    }

    /** While the last close is just writing it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void unlink_whileFileIsWritten_waitsForThatAndRemovesIt(boolean moved) throws Exception {
        try (MemoryMount mount = mount("1h")) {
            Opened file = create(mount, FuseRequests.ROOT, "file");
            mount.requests().flush(file);
            StoreFaults.Held completion = mount.faults().on(StoreCall.COMPLETE).hold();
            Started<Integer> released = Started.start(() -> {
                mount.requests().release(file);
                return 0;
            });
            completion.await();
            Started<Integer> taken = Started.start(() -> {
                if (moved) {
                    mount.rename("/file", "/moved");
                }
                mount.unlink(moved ? "/moved" : "/file");
                return 0;
            });
            awaitBlockedOrDone(List.of(taken));
            assertThat(mount.faults().count(StoreCall.DELETE) + mount.faults().count(StoreCall.RENAME))
                    .as("taken away from under whoever writes it")
                    .isZero();
            completion.open();
            released.get();
            taken.get();
            assertThat(mount.list("/")).isEmpty();
            assertThat(cluster.ufs().list("/")).isEmpty();
        }
    }

    /** Else the worker that writes would make the old directory anew in the under file system. */
    @Test
    void rename_ofDirectoryWhileItsFilesAreWritten_waitsForThem() throws Exception {
        try (MemoryMount mount = mount("10ms")) {
            mount.mkdir("/outer-0");
            mount.mkdir("/outer-0/inner");
            long inner = mount.lookup("/outer-0/inner").id();
            List<Opened> files = new ArrayList<>();
            for (int i = 0; i < FILES; i++) {
                files.add(create(mount, inner, "file-" + i));
                mount.requests().write(files.get(i), 0, bytes("content " + i));
            }
            for (int i = 0; i < FILES; i++) {
                int number = i;
                StoreFaults.Held completion =
                        mount.faults().on(StoreCall.COMPLETE).hold();
                Started<Integer> written = Started.start(() -> {
                    mount.requests().fsync(files.get(number));
                    return 0;
                });
                completion.await();
                int renames = mount.faults().count(StoreCall.RENAME);
                Started<Integer> renamed = Started.start(() -> {
                    mount.rename("/outer-" + number, "/outer-" + (number + 1));
                    return 0;
                });
                awaitBlockedOrDone(List.of(renamed));
                assertThat(mount.faults().count(StoreCall.RENAME)).isEqualTo(renames);
                completion.open();
                written.get();
                renamed.get();
                mount.requests().flush(files.get(i));
                mount.requests().release(files.get(i));
            }
            isWhole(mount, "/outer-" + FILES);
        }
    }

    private void isWhole(MemoryMount mount, String outer) {
        assertThat(mount.list("/")).containsExactly(outer.substring(1));
        assertThat(mount.list(outer + "/inner"))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, FILES).mapToObj(i -> "file-" + i).toList());
        assertThat(cluster.ufs().list("/")).containsExactly(outer.substring(1));
        for (int i = 0; i < FILES; i++) {
            assertThat(cluster.ufs().read(outer + "/inner/file-" + i))
                    .asString()
                    .isEqualTo("content " + i);
            assertThat(mount.read(outer + "/inner/file-" + i)).isEqualTo("content " + i);
        }
    }

    /** Whoever stands in it asks by a path of yesterday, and asks again. */
    @Test
    void look_insideDirectoryThatIsRenamed_findsAllAtEveryMoment() throws Exception {
        try (MemoryMount mount = mount("10ms")) {
            mount.mkdir("/outer-0");
            mount.mkdir("/outer-0/inner");
            mount.write("/outer-0/inner/known", "known");
            FuseNode inner = mount.lookup("/outer-0/inner");
            cluster.clock().advance(Duration.ofSeconds(1));
            List<Started<Long>> sizes = new ArrayList<>();
            List<Started<List<String>>> listings = new ArrayList<>();
            List<Started<?>> all = new ArrayList<>();
            Runnable look = () -> {
                cluster.clock().advance(Duration.ofSeconds(1));
                sizes.add(Started.start(
                        () -> mount.requests().lookup(inner.id(), "known").lengthBytes()));
                listings.add(Started.start(() -> names(mount, inner)));
                all.add(sizes.get(sizes.size() - 1));
                all.add(listings.get(listings.size() - 1));
                awaitBlockedOrDone(all);
            };
            for (int i = 0; i < 3; i++) {
                mount.faults().on(StoreCall.RENAME).before(look).after(look);
                mount.rename("/outer-" + i, "/outer-" + (i + 1));
                look.run();
            }
            for (Started<Long> size : sizes) {
                assertThat(size.get()).isEqualTo(5);
            }
            for (Started<List<String>> listing : listings) {
                assertThat(listing.get()).containsExactly("known");
            }
        }
    }

    private static List<String> names(MemoryMount mount, FuseNode directory) {
        Opened open = mount.requests().opendir(directory);
        List<String> names = new ArrayList<>();
        List<FuseRequests.Listed> part = mount.requests().readdir(open, 0);
        while (!part.isEmpty()) {
            part.stream().map(FuseRequests.Listed::name).forEach(names::add);
            part = mount.requests().readdir(open, part.get(part.size() - 1).nextOffset());
        }
        mount.requests().releasedir(open);
        names.removeAll(List.of(".", ".."));
        return names;
    }
}
