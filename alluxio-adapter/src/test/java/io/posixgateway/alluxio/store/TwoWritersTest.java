package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A file is new on one mount, and not closed there yet, when another mount puts its own in its place. */
class TwoWritersTest {
    private static final int MIB = 1 << 20;
    private static final String FIRST = "of the first mount";
    private static final String OTHER = "the other's";

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryMount one = MemoryMount.of(cluster.connect())
            .with("metadata_ttl", "0")
            .with("open_trust", "0")
            .with("stream_from", "1M")
            .open();
    private final MemoryMount two = MemoryMount.of(cluster.connect())
            .with("metadata_ttl", "0")
            .with("open_trust", "0")
            .open();

    /** How the other mount does it. */
    enum Way {
        WRITES {
            @Override
            void put(MemoryMount mount) {
                mount.write("/f", OTHER);
            }
        },
        RENAMES {
            @Override
            void put(MemoryMount mount) {
                mount.write("/beside", OTHER);
                mount.rename("/beside", "/f");
            }
        },
        REMOVES_AND_WRITES {
            @Override
            void put(MemoryMount mount) {
                mount.unlink("/f");
                mount.write("/f", OTHER);
            }
        };

        abstract void put(MemoryMount mount);
    }

    /** What the other mount renames. */
    enum Renamed {
        FILE("/folder/f", "/folder/g", "/folder/g"),
        FOLDER("/folder", "/renamed", "/renamed/f");

        private final String from;
        private final String to;
        private final String file;

        Renamed(String from, String to, String file) {
            this.from = from;
            this.to = to;
            this.file = file;
        }
    }

    @AfterEach
    void unmount() {
        two.close();
        one.close();
    }

    private void assertHolds(String content) {
        assertThat(cluster.ufs().read("/f")).asString().isEqualTo(content);
        assertThat(one.read("/f")).isEqualTo(content);
        assertThat(two.read("/f")).isEqualTo(content);
    }

    @ParameterizedTest
    @EnumSource
    void close_whereAnotherFileIsByThen_replacesIt(Way way) {
        try (OpenFile file = one.create("/f")) {
            file.write(FIRST);
            cluster.clock().advance(Duration.ofMillis(200));
            way.put(two);
        }
        assertHolds(FIRST);
        assertThat(one.faults().count(StoreCall.COMPLETE))
                .as("of the file beside it; its own would have overwritten the other's first")
                .isEqualTo(1);
    }

    /** As one does that existed before; the removal may have been this mount's, of which it heard nothing. */
    @Test
    void close_afterTheNewFileWasRemoved_createsItAgain() {
        try (OpenFile file = one.create("/f")) {
            file.write(FIRST);
            cluster.clock().advance(Duration.ofMillis(200));
            two.unlink("/f");
        }
        assertHolds(FIRST);
    }

    @Test
    void close_afterAnUnlinkWhoseAnswerWasLost_succeeds() {
        one.faults().on(StoreCall.DELETE).loseAnswer();
        try (OpenFile file = one.create("/f")) {
            file.write(FIRST);
            cluster.clock().advance(Duration.ofMillis(200));
            assertThatThrownBy(() -> one.unlink("/f")).isInstanceOf(FuseFailure.class);
        }
        assertHolds(FIRST);
    }

    @ParameterizedTest
    @EnumSource
    void closeOfStream_whereAnotherFileIsByThen_failsAndLeavesThatWhole(Way way) {
        OpenFile file = one.create("/f");
        file.write(0, new byte[3 * MIB]);
        way.put(two);
        assertThatThrownBy(file::close).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
        assertHolds(OTHER);
    }

    @ParameterizedTest
    @EnumSource
    void close_afterAnotherMountRenamedTheFile_commitsItWhereItIs(Renamed renamed) {
        one.mkdir("/folder");
        one.write("/folder/f", OTHER);
        try (OpenFile file = one.openToWrite("/folder/f")) {
            one.requests().truncate(file.opened().node().id(), 0);
            file.write(FIRST);
            two.rename(renamed.from, renamed.to);
        }
        assertThat(cluster.ufs().read(renamed.file)).asString().isEqualTo(FIRST);
        assertThat(one.read(renamed.file)).isEqualTo(FIRST);
        assertThat(two.read(renamed.file)).isEqualTo(FIRST);
        assertThat(cluster.ufs().exists("/folder/f")).isFalse();
        assertThat(one.exists("/folder/f")).isFalse();
    }

    /** The other mount hides it, as somebody there still reads it; what is written here is for the name, as if it were gone. */
    @Test
    void close_afterAnotherMountRemovedWhatItStillReads_commitsAtTheName() {
        one.write("/f", OTHER);
        try (OpenFile read = two.open("/f")) {
            try (OpenFile file = one.openToWrite("/f")) {
                one.requests().truncate(file.opened().node().id(), 0);
                file.write(FIRST);
                two.unlink("/f");
            }
            assertHolds(FIRST);
            assertThat(read.readText()).isEqualTo(OTHER);
        }
        assertHolds(FIRST);
    }

    @Test
    void lastClose_wins() {
        OpenFile first = one.create("/f").write(FIRST);
        first.close();
        OpenFile second = two.openToWrite("/f");
        two.requests().truncate(second.opened().node().id(), 0);
        second.write(OTHER);
        assertThat(one.read("/f")).isEqualTo(FIRST);
        second.close();
        assertHolds(OTHER);
    }

    @Test
    void open_ofWhatAnotherMountIsWriting_isEbusy() {
        try (OpenFile file = one.create("/f")) {
            file.write(FIRST);
            assertThatThrownBy(() -> two.read("/f"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
        }
        assertHolds(FIRST);
    }

    @Test
    void rename_overAFileThatIsRead_keepsTheOldContentForItsReader() {
        one.write("/f", OTHER);
        one.write("/new", FIRST);
        try (OpenFile read = one.open("/f")) {
            one.rename("/new", "/f");
            assertThat(read.readText()).isEqualTo(OTHER);
            assertHolds(FIRST);
        }
        assertThat(cluster.ufs().list("/")).containsExactly("f");
    }
}
