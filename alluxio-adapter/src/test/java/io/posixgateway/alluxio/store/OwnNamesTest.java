package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a mount knows of a directory's names while it changes them itself, and while others do. */
class OwnNamesTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final int MANY = 400;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private MemoryMount mount() {
        return MemoryMount.of(cluster);
    }

    /** Where nothing but the age of missing names makes it ask. */
    private MemoryMount patientMount() {
        return MemoryMount.of(cluster.connect()).with("metadata_ttl", "1h").open();
    }

    private MemoryMount other() {
        return MemoryMount.of(cluster.connect()).with("metadata_ttl", "0").open();
    }

    private void pass(int millis) {
        cluster.clock().advance(Duration.ofMillis(millis));
    }

    /** Of metadata, besides those that make and remove files. */
    private static int questions(MemoryMount mount) {
        Map<StoreCall, Integer> counts = mount.faults().counts();
        return counts.getOrDefault(StoreCall.STATUS, 0)
                + counts.getOrDefault(StoreCall.LIST, 0)
                + counts.getOrDefault(StoreCall.CHANGE, 0);
    }

    /** As the kernel has them made, which looks for each first. */
    private void makeMany(MemoryMount mount) {
        for (int i = 0; i < MANY; i++) {
            assertThat(mount.exists("/d/" + i)).isFalse();
            mount.create("/d/" + i).close();
            pass(10);
        }
    }

    @Test
    void create_ofManyFilesInOneDirectory_asksForThatOnceASecond() {
        try (MemoryMount mount = patientMount()) {
            mount.mkdir("/d");
            mount.faults().forgetCounts();
            makeMany(mount);
            assertThat(questions(mount)).isLessThan(MANY / 10);
        }
    }

    @Test
    void create_afterManyWereUnlinked_asksForTheDirectoryOnceASecond() {
        try (MemoryMount mount = patientMount()) {
            mount.mkdir("/d");
            makeMany(mount);
            for (String name : mount.list("/d")) {
                mount.unlink("/d/" + name);
                pass(10);
            }
            mount.faults().forgetCounts();
            makeMany(mount);
            assertThat(questions(mount)).isLessThan(MANY / 10);
        }
    }

    @Test
    void rename_thatAnotherMountUndoes_isSeenAfterASecond_thoughThisMountMadeNamesMeanwhile() {
        try (MemoryMount mount = mount();
                MemoryMount other = other()) {
            mount.mkdir("/d");
            mount.write("/d/file", "text");
            other.rename("/d/file", "/away");
            pass(6000);
            assertThat(mount.exists("/d/file")).isFalse();
            mount.create("/d/own").close();
            other.rename("/away", "/d/file");
            mount.create("/d/later").close();
            cluster.clock().advance(SECOND);
            assertThat(mount.read("/d/file")).isEqualTo("text");
        }
    }

    @Test
    void rename_withinADirectory_isSeenAfterASecond_whereThisMountMadeNamesBefore() {
        try (MemoryMount mount = mount();
                MemoryMount other = other()) {
            mount.mkdir("/d");
            mount.write("/d/one", "text");
            assertThat(mount.exists("/d/other")).isFalse();
            mount.create("/d/own").close();
            pass(10);
            other.rename("/d/one", "/d/other");
            cluster.clock().advance(SECOND);
            assertThat(mount.read("/d/other")).isEqualTo("text");
        }
    }

    @Test
    void unlink_ofFileThatThisMountJustWrote_asksForNothing() {
        try (MemoryMount mount = mount()) {
            mount.mkdir("/d");
            mount.write("/d/file", "text");
            mount.create("/d/empty").close();
            mount.faults().forgetCounts();
            mount.unlink("/d/file");
            mount.unlink("/d/empty");
            assertThat(questions(mount)).isZero();
        }
    }

    @Test
    void missingNames_stayKnown_whereThisMountUnlinked() {
        try (MemoryMount mount = mount()) {
            mount.mkdir("/d");
            mount.create("/d/file").close();
            mount.unlink("/d/file");
            mount.faults().forgetCounts();
            assertThat(mount.exists("/d/file")).isFalse();
            assertThat(mount.exists("/d/none")).isFalse();
            assertThat(questions(mount)).isZero();
        }
    }

    @Test
    void missingNames_stayKnown_whenTheDirectoryIsLookedAtWhileThisMountMakesAName() throws Exception {
        try (MemoryMount mount = mount()) {
            mount.mkdir("/d");
            long directory = mount.lookup("/d").id();
            cluster.clock().advance(SECOND);
            Answer made = new Answer(mount, StoreCall.CREATE);
            AsyncCall making = AsyncCall.start(() -> mount.create("/d/own").close());
            made.awaitDone();
            assertThat(mount.requests().lookup(directory, "none").id()).isZero();
            made.arrive();
            making.await();
            cluster.clock().advance(SECOND);
            assertThat(mount.requests().lookup(directory, "none").id()).isZero();
            mount.faults().forgetCounts();
            assertThat(mount.requests().lookup(directory, "another").id()).isZero();
            assertThat(questions(mount)).isZero();
        }
    }

    @Test
    void allNames_areKnownAfterAListing_duringWhichThisMountMadeOne() throws Exception {
        try (MemoryMount mount = mount();
                MemoryMount other = other()) {
            other.mkdir("/d");
            other.write("/d/there", "text");
            mount.stat("/d");
            Answer listed = new Answer(mount, StoreCall.LIST);
            AsyncCall listing = AsyncCall.start(() -> mount.list("/d"));
            listed.awaitDone();
            mount.create("/d/own").close();
            listed.arrive();
            listing.await();
            mount.faults().forgetCounts();
            assertThat(mount.exists("/d/none")).isFalse();
            assertThat(questions(mount)).isZero();
        }
    }

    /** The next one to a call of this kind: it is done, but not known of before the test says so. */
    private static final class Answer {
        private static final long LIMIT_SECONDS = 60;

        private final CountDownLatch done = new CountDownLatch(1);
        private final CountDownLatch arrived = new CountDownLatch(1);

        private Answer(MemoryMount mount, StoreCall call) {
            mount.faults().on(call).after(() -> {
                done.countDown();
                await(arrived);
            });
        }

        private void awaitDone() {
            await(done);
        }

        private void arrive() {
            arrived.countDown();
        }

        private static void await(CountDownLatch latch) {
            try {
                assertThat(latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
