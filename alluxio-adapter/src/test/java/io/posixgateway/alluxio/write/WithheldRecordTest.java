package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A record that the next process does not understand is kept, and its file's calls fail, while all else is served. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WithheldRecordTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Path folder;
    private final MemoryMount killed;

    WithheldRecordTest(@TempDir Path folder) {
        this.folder = folder;
        this.killed = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("1"), null);
    }

    @AfterEach
    void end() {
        killed.close();
    }

    /** What becomes of a record. */
    enum Damage {
        LATER_VERSION {
            @Override
            void to(Path record) throws IOException {
                byte[] bytes = Files.readAllBytes(record);
                bytes[3] = 2;
                Files.write(record, bytes);
            }
        },
        UNKNOWN_STATE {
            @Override
            void to(Path record) throws IOException {
                byte[] bytes = Files.readAllBytes(record);
                bytes[5] |= 1;
                Files.write(record, bytes);
            }
        },
        CUT_SHORT {
            @Override
            void to(Path record) throws IOException {
                Files.write(record, Arrays.copyOf(Files.readAllBytes(record), 20));
            }
        },
        CUT_SHORT_IN_A_TEXT {
            @Override
            void to(Path record) throws IOException {
                byte[] bytes = Files.readAllBytes(record);
                Files.write(record, Arrays.copyOf(bytes, bytes.length - 3));
            }
        },
        EMPTIED {
            @Override
            void to(Path record) throws IOException {
                Files.write(record, new byte[0]);
            }
        },
        GONE_WITH_WHAT_STANDS_BESIDE {
            @Override
            void to(Path record) throws IOException {
                Files.write(record, new byte[0]);
                Files.delete(Path.of(record.toString().replace(".draft", ".origin")));
            }
        };

        abstract void to(Path record) throws IOException;
    }

    private static List<Path> files(Path folder, String pattern) throws IOException {
        if (Files.notExists(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.getFileName().toString().matches(pattern))
                    .toList();
        }
    }

    private Path recordOf(String content) throws IOException {
        for (Path spool : files(killed.folder(), "spool-\\d+")) {
            if (Files.readString(spool).equals(content)) {
                return Path.of(spool + ".draft");
            }
        }
        throw new AssertionError("no spool file holds " + content);
    }

    private MemoryMount next(MemoryMount before, int number) {
        before.kill();
        return MemoryMount.of(cluster.connect()).openPersistent(folder.resolve(Integer.toString(number)), before);
    }

    private static void failsWithEio(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    @ParameterizedTest
    @EnumSource
    void fileOfRecord_thatIsNotUnderstood_failsWhileOthersGoOn(Damage damage) throws Exception {
        OpenFile one = killed.create("/one").write("one");
        OpenFile bad = killed.create("/bad").write("bad");
        OpenFile two = killed.create("/two").write("two");
        killed.kill();
        Path record = recordOf("bad");
        damage.to(record);
        byte[] kept = Files.readAllBytes(record);
        try (MemoryMount next = next(killed, 2)) {
            OpenFile same = next.inherited(bad);
            failsWithEio(() -> same.write(100, new byte[1]));
            failsWithEio(same::fsync);
            failsWithEio(same::readAll);
            for (OpenFile other : List.of(one, two)) {
                next.inherited(other).write(3, new byte[] {'!'}).close();
            }
            assertThat(next.read("/one")).isEqualTo("one!");
            assertThat(next.read("/two")).isEqualTo("two!");
            next.write("/new", "new");
            assertThat(next.read("/new")).isEqualTo("new");
            assertThat(next.folder().resolve(record.getFileName())).hasBinaryContent(kept);
            assertThatThrownBy(same::close).isInstanceOf(FuseFailure.class);
        }
        assertThat(files(folder.resolve("2/aside"), "spool-\\d+"))
                .as("its mount has ended")
                .singleElement()
                .satisfies(content -> assertThat(content).hasContent("bad"));
    }

    /** As after a cleaning of temporary files: a writer is not told that what he wrote is safe. */
    @Test
    void dirtyFile_whoseContentIsGone_failsItsNextFsync() throws Exception {
        OpenFile file = killed.create("/file").write("text");
        killed.kill();
        Files.delete(SpoolFolder.spoolOf(recordOf("text")));
        try (MemoryMount next = next(killed, 2)) {
            failsWithEio(() -> next.inherited(file).fsync());
        }
    }

    @Test
    void record_ofLaterVersion_isGoneOnWithByThatVersion() throws Exception {
        OpenFile file = killed.create("/file").write("BEFORE");
        killed.kill();
        Path record = recordOf("BEFORE");
        byte[] understood = Files.readAllBytes(record);
        Damage.LATER_VERSION.to(record);
        try (MemoryMount next = next(killed, 2)) {
            failsWithEio(() -> next.inherited(file).write(6, new byte[] {'.'}));
            next.kill();
            Files.write(next.folder().resolve(record.getFileName()), understood);
            try (MemoryMount third = next(next, 3)) {
                third.inherited(file).write(6, new byte[] {'!'}).close();
                assertThat(third.read("/file")).isEqualTo("BEFORE!");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void record_thatIsNotUnderstood_isSetAsideWhenItsMountHasEnded(Damage damage) throws Exception {
        killed.create("/bad").write("bad");
        killed.create("/other").write("other").fsync();
        killed.kill();
        damage.to(recordOf("bad"));
        try (MemoryMount back = MemoryMount.of(cluster.connect()).openReturned(folder.resolve("2"), killed)) {
            assertThat(back.read("/other")).isEqualTo("other");
            assertThat(files(folder.resolve("2/aside"), "spool-\\d+"))
                    .singleElement()
                    .satisfies(content -> assertThat(content).hasContent("bad"));
            assertThat(files(folder.resolve("2/aside"), "spool-\\d+\\.draft")).hasSize(1);
            assertThat(files(back.folder(), "spool-.*")).isEmpty();
        }
    }

    @Test
    void record_thatWasNeverWritten_isNoObstacle() throws Exception {
        killed.kill();
        Files.createFile(killed.folder().resolve("spool-1"));
        Files.createFile(killed.folder().resolve("spool-1.draft"));
        Files.createDirectory(killed.folder().resolve("spool-2"));
        try (MemoryMount next = next(killed, 2)) {
            next.write("/file", "text");
            assertThat(next.read("/file")).isEqualTo("text");
            assertThat(files(next.folder(), "spool-1.*")).isEmpty();
        }
    }

    /** Nobody can have that file open, so what others have open is not withheld because of it. */
    @Test
    void name_thatCannotBeGivenBack_isNoObstacle() throws Exception {
        killed.write("/read", "text");
        OpenFile reader = killed.open("/read");
        Path left = folder.resolve("left");
        killed.faults().on(StoreCall.CREATE).at("/new").before(() -> killed.killAfter(0, true, left));
        assertThatThrownBy(() -> killed.create("/new")).isInstanceOf(FuseFailure.class);
        killed.kill();
        MemoryStore client = cluster.connect();
        client.faults().on(StoreCall.CREATE).at("/new").always().fail(Errno.EIO);
        try (MemoryMount next = MemoryMount.of(client).openPersistent(folder.resolve("2"), killed)) {
            awaitInTime(() -> assertThat(next.list("/")).contains("read"));
            assertThat(client.faults().count(StoreCall.CREATE)).isGreaterThan(1);
            next.write("/other", "other");
            assertThat(next.inherited(reader).readText()).isEqualTo("text");
        }
    }

    /** Alluxio answers, but never for this file. */
    @Test
    void dirtyFile_thatCannotBeRestored_failsAloneAndOpensTheWayForOthers() throws Exception {
        killed.write("/d", "old");
        OpenFile bad = killed.openToWrite("/d").write("bad");
        OpenFile good = killed.create("/good").write("good");
        killed.kill();
        MemoryStore client = cluster.connect();
        client.faults()
                .on(StoreCall.PATH_OF)
                .at(Long.toString(io.posixgateway.alluxio.meta.InodeTable.fileIdOf(
                        bad.opened().node().id())))
                .always()
                .fail(Errno.EIO);
        try (MemoryMount next = MemoryMount.of(client).openPersistent(folder.resolve("2"), killed)) {
            OpenFile same = next.inherited(good);
            awaitInTime(() -> assertThat(same.readText()).isEqualTo("good"));
            same.close();
            assertThat(next.list("/")).contains("good", "d");
            failsWithEio(() -> next.inherited(bad).readAll());
            assertThat(next.folder().resolve(recordOf("bad").getFileName())).exists();
        }
    }

    /** While time passes, as slowly as a recovery needs it. */
    private void awaitInTime(AsyncCall.Work work) throws Exception {
        AsyncCall call = AsyncCall.start(work);
        Waiting.until("its end", Duration.ofSeconds(60), () -> {
            cluster.clock().advance(Duration.ofMillis(100));
            return call.isDone();
        });
        call.await();
    }
}
