package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.RecordingKernel.Notification;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How long a name is believed to be missing while another mount may make it, and what it costs to know. */
class NegativeEntriesTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private MemoryMount.Builder mount() {
        return MemoryMount.of(cluster.connect());
    }

    private MemoryMount other() {
        return mount().with("metadata_ttl", "0").open();
    }

    @Test
    void name_thatAnotherMountRenamedBack_isFoundAfterASecond() {
        try (MemoryMount mount = mount().open();
                MemoryMount other = other()) {
            mount.mkdir("/d");
            mount.write("/d/file", "text");
            other.rename("/d/file", "/d/away");
            cluster.clock().advance(Duration.ofSeconds(6));
            assertThat(mount.exists("/d/file")).isFalse();
            other.rename("/d/away", "/d/file");
            cluster.clock().advance(SECOND.minusNanos(1));
            assertThat(mount.exists("/d/file")).isFalse();
            cluster.clock().advance(Duration.ofNanos(1));
            assertThat(mount.read("/d/file")).isEqualTo("text");
        }
    }

    @Test
    void name_thatIsMissingInAWholeListing_isFoundAfterASecond() {
        try (MemoryMount mount = mount().open();
                MemoryMount other = other()) {
            other.mkdir("/d");
            other.write("/d/beside", "x");
            mount.list("/d");
            mount.list("/d");
            mount.faults().forgetCounts();
            assertThat(mount.exists("/d/file")).isFalse();
            assertThat(mount.faults().counts()).as("all names are known").isEmpty();
            other.write("/d/file", "text");
            assertThat(mount.exists("/d/file")).isFalse();
            cluster.clock().advance(SECOND);
            assertThat(mount.read("/d/file")).isEqualTo("text");
        }
    }

    @Test
    void kernel_isNotToBelieveItForLonger() {
        try (MemoryMount mount = mount().open()) {
            mount.mkdir("/d");
            long directory = mount.lookup("/d").id();
            cluster.clock().advance(Duration.ofSeconds(10));
            assertThat(mount.requests().lookup(directory, "file").nameValid()).isEqualTo(SECOND);
            cluster.clock().advance(Duration.ofMillis(400));
            assertThat(mount.requests().lookup(directory, "file").nameValid()).isEqualTo(Duration.ofMillis(600));
        }
    }

    @Test
    void name_thatAListingShows_isFoundAtOnce_byTheKernelToo() throws Exception {
        try (MemoryMount mount = mount().open();
                MemoryMount other = other()) {
            other.mkdir("/d");
            long directory = mount.lookup("/d").id();
            assertThat(mount.exists("/d/file")).isFalse();
            other.write("/d/file", "text");
            assertThat(mount.list("/d")).containsExactly("file");
            assertThat(mount.read("/d/file")).isEqualTo("text");
            mount.kernel().await(Notification.entry(directory, "file"));
        }
    }

    @Test
    void name_isFoundAtOnce_whenItsDirectoryIsSeenToHaveChanged() throws Exception {
        try (MemoryMount mount = mount().with("negative_ttl", "1h")
                        .with("metadata_ttl", "1h")
                        .open();
                MemoryMount other = other()) {
            other.mkdir("/d");
            long directory = mount.lookup("/d").id();
            assertThat(mount.exists("/d/file")).isFalse();
            cluster.clock().advance(SECOND);
            other.write("/d/file", "text");
            assertThat(mount.exists("/d/file")).isFalse();
            mount.fileSystem().invalidate("/d/beside");
            cluster.clock().advance(Duration.ofHours(1));
            mount.requests().getattr(directory);
            mount.kernel().await(Notification.entry(directory, "file"));
            assertThat(mount.read("/d/file")).isEqualTo("text");
        }
    }

    /** The number of names that Alluxio said is of before the change. */
    @Test
    void names_ofADirectoryThatIsAnsweredBeforeAChangeByThisMount_stayKnownToBeMissing() {
        try (MemoryMount mount = mount().open()) {
            mount.mkdir("/d");
            long directory = mount.lookup("/d").id();
            cluster.clock().advance(SECOND);
            mount.faults().on(StoreCall.STATUS).at("/d").after(() -> mount.create("/d/made")
                    .close());
            assertThat(mount.requests().lookup(directory, "absent").id()).isZero();
            mount.faults().forgetCounts();
            assertThat(mount.requests().lookup(directory, "other").id()).isZero();
            assertThat(mount.faults().counts()).isEmpty();
        }
    }

    @Test
    void zero_asksEachTime_andMetadataTtlIsTheMost() {
        try (MemoryMount never = mount().with("negative_ttl", "0").open();
                MemoryMount shorter = mount().with("negative_ttl", "1m")
                        .with("metadata_ttl", "2s")
                        .open();
                MemoryMount other = other()) {
            other.mkdir("/d");
            assertThat(never.exists("/d/file")).isFalse();
            assertThat(shorter.exists("/d/file")).isFalse();
            other.write("/d/file", "text");
            assertThat(never.exists("/d/file")).isTrue();
            assertThat(shorter.exists("/d/file")).isFalse();
            cluster.clock().advance(Duration.ofSeconds(2));
            assertThat(shorter.exists("/d/file")).isTrue();
        }
    }

    @Test
    void ofDatasetsThatNeverChange_isBelievedForEver() {
        try (MemoryMount mount = mount().with("consistency", "immutable").open()) {
            assertThat(mount.exists("/file")).isFalse();
            cluster.clock().advance(Duration.ofHours(10));
            mount.faults().forgetCounts();
            assertThat(mount.exists("/file")).isFalse();
            assertThat(mount.faults().counts()).isEmpty();
        }
    }

    /** What an import in Python looks for: with negative_ttl=5s nothing would be asked here, and a name be missing five seconds. */
    @Test
    void twoThousandMissingNames_costOneQuestionASecond() {
        try (MemoryMount mount = mount().open();
                MemoryMount other = other()) {
            other.mkdir("/d");
            other.write("/d/module.py", "x");
            AtomicInteger asked = new AtomicInteger();
            mount.faults().on(StoreCall.STATUS).at(".absent").always().before(asked::incrementAndGet);
            pass(mount);
            asked.set(0);
            mount.faults().forgetCounts();
            for (int second = 0; second < 4; second++) {
                cluster.clock().advance(SECOND);
                pass(mount);
            }
            assertThat(asked).as("questions for single names").hasValue(0);
            // Four, and what is left of the reading ahead that the first look began: seven times three at most.
            int calls = mount.faults().counts().values().stream()
                    .mapToInt(each -> each)
                    .sum();
            assertThat(calls).isBetween(4, 25);
        }
    }

    private static void pass(MemoryMount mount) {
        long directory = mount.lookup("/d").id();
        for (int i = 0; i < 2000; i++) {
            assertThat(mount.requests().lookup(directory, i + ".absent").id()).isZero();
        }
    }
}
