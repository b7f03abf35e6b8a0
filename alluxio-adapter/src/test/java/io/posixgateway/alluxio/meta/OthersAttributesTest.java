package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.wire.Layouts;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two mounts change different attributes of one file, which each of them has just looked at: both changes stay. */
class OthersAttributesTest {
    private static final int UID = 1234;
    private static final int MODE = 04750;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryMount here = MemoryMount.of(cluster);
    private final MemoryMount there = MemoryMount.of(cluster);

    @BeforeEach
    void bothLookAtTheFileAndOneGivesItAway() {
        here.write("/file", "text");
        cluster.clock().advance(Duration.ofSeconds(10));
        here.stat("/file");
        long node = there.stat("/file").id();
        there.requests().chown(node, UID);
        there.requests().chmod(node, MODE);
    }

    @AfterEach
    void unmount() {
        here.close();
        there.close();
    }

    private void bothSeeWhatWasGiven() {
        cluster.clock().advance(Duration.ofSeconds(10));
        for (MemoryMount mount : new MemoryMount[] {here, there}) {
            FuseNode file = mount.stat("/file");
            assertThat(file.uid()).isEqualTo(UID);
            assertThat(file.mode() & 07777).isEqualTo(MODE);
            assertThat(file.modifiedMillis()).isEqualTo(1000);
        }
    }

    /** The kernel asks for that with each change of an owner or group, and with a truncation by an ordinary user. */
    @Test
    void setUserId_thatAnotherMountGave_goesWithAChangeOfTheOwner() {
        int valid = SetAttributes.UID | SetAttributes.KILL_SUID_GID;
        here.requests()
                .setattr(here.lookup("/file").id(), valid, changes -> changes.putInt(Layouts.SETATTR_IN_UID, UID + 1));
        assertThat(here.stat("/file").uid()).isEqualTo(UID + 1);
        bothSeeNoSetUserId();
    }

    @Test
    void setUserId_thatAnotherMountGave_goesWithATruncation() {
        int valid = SetAttributes.SIZE | SetAttributes.KILL_SUID_GID;
        here.requests()
                .setattr(here.lookup("/file").id(), valid, changes -> changes.putLong(Layouts.SETATTR_IN_SIZE, 2));
        bothSeeNoSetUserId();
    }

    private void bothSeeNoSetUserId() {
        cluster.clock().advance(Duration.ofSeconds(10));
        assertThat(here.stat("/file").mode() & 07777).isEqualTo(0750);
        assertThat(there.stat("/file").mode() & 07777).isEqualTo(0750);
    }

    /** As {@code touch}, which opens the file. */
    @Test
    void time_setOfAnOpenFile_leavesOwnerAndModeThatAnotherMountGave() {
        try (OpenFile file = here.openToWrite("/file")) {
            here.requests().setModified(file.opened().node().id(), Duration.ofSeconds(1));
        }
        bothSeeWhatWasGiven();
    }

    /** What was written here goes to a file of its own in Alluxio, which is made with what the file has by then. */
    @Test
    void close_ofAChangedFile_leavesWhatAnotherMountGaveMeanwhile() {
        try (OpenFile file = here.openToWrite("/file")) {
            here.requests().setxattr(file.opened().node().id(), "user.both", "before");
            file.write("more");
            file.fsync();
            file.write("last");
            here.requests().setxattr(file.opened().node().id(), "user.here", "1");
            cluster.clock().advance(Duration.ofSeconds(10));
            long node = there.stat("/file").id();
            there.requests().chmod(node, 02600);
            there.requests().chown(node, UID + 1);
            there.requests().setxattr(node, "user.there", "2");
            there.requests().removexattr(node, "user.both");
        }
        cluster.clock().advance(Duration.ofSeconds(10));
        for (MemoryMount mount : new MemoryMount[] {here, there}) {
            FuseNode file = mount.stat("/file");
            assertThat(file.mode() & 07777).isEqualTo(02600);
            assertThat(file.uid()).isEqualTo(UID + 1);
            assertThat(mount.requests().listxattr(file.id())).containsExactlyInAnyOrder("user.here", "user.there");
            assertThat(mount.read("/file")).isEqualTo("last");
        }
    }

    /** A change of this mount's own is the later one: it is done when the file is closed. */
    @Test
    void close_ofAFileWhoseModeWasChangedHereToo_leavesTheOwnerThatAnotherMountGave() {
        try (OpenFile file = here.openToWrite("/file")) {
            file.write("more");
            here.requests().chmod(file.opened().node().id(), 0640);
            cluster.clock().advance(Duration.ofSeconds(10));
            long node = there.stat("/file").id();
            there.requests().chmod(node, 0600);
            there.requests().chown(node, UID + 1);
        }
        cluster.clock().advance(Duration.ofSeconds(10));
        assertThat(there.stat("/file").mode() & 07777).isEqualTo(0640);
        assertThat(there.stat("/file").uid()).isEqualTo(UID + 1);
    }

    /** All bits are those of one chmod: here no bit of the first three was changed, there no other. */
    @Test
    void close_ofAFileWhoseModeWasChangedHereToo_mixesNoModes() {
        try (OpenFile file = here.openToWrite("/file")) {
            file.write("more");
            here.requests().chmod(file.opened().node().id(), 04640);
            cluster.clock().advance(Duration.ofSeconds(10));
            there.requests().chmod(there.stat("/file").id(), 0750);
        }
        cluster.clock().advance(Duration.ofSeconds(10));
        assertThat(there.stat("/file").mode() & 07777).isEqualTo(04640);
    }

    /** Its content is in Alluxio already: only attributes are sent. */
    @Test
    void close_afterOnlyTheModeWasChangedSinceAnFsync_leavesTheOwnerThatAnotherMountGave() {
        try (OpenFile file = here.openToWrite("/file")) {
            file.write("more");
            file.fsync();
            here.requests().chmod(file.opened().node().id(), 0640);
            cluster.clock().advance(Duration.ofSeconds(10));
            there.requests().chown(there.stat("/file").id(), UID + 1);
        }
        cluster.clock().advance(Duration.ofSeconds(10));
        assertThat(there.stat("/file").mode() & 07777).isEqualTo(0640);
        assertThat(there.stat("/file").uid()).isEqualTo(UID + 1);
    }

    /** The time of what was written here was sent before. */
    @Test
    void close_afterOnlyTheModeWasChangedSinceAnFsync_leavesTheTimeThatAnotherMountGave() {
        try (OpenFile file = here.openToWrite("/file")) {
            file.write("more");
            file.fsync();
            here.requests().chmod(file.opened().node().id(), MODE);
            cluster.clock().advance(Duration.ofSeconds(10));
            there.requests().chown(there.stat("/file").id(), UID);
            there.requests().setModified(there.stat("/file").id(), Duration.ofSeconds(1));
        }
        bothSeeWhatWasGiven();
    }

    /** Whose name was taken a moment ago. */
    @Test
    void close_ofANewFile_leavesWhatAnotherMountGaveMeanwhile() {
        try (OpenFile file = here.create("/new")) {
            cluster.clock().advance(Duration.ofSeconds(1));
            file.write("text");
            cluster.clock().advance(Duration.ofSeconds(10));
            long node = there.stat("/new").id();
            there.requests().chmod(node, 02600);
            there.requests().chown(node, UID);
        }
        cluster.clock().advance(Duration.ofSeconds(10));
        assertThat(here.stat("/new").mode() & 07777).isEqualTo(02600);
        assertThat(here.stat("/new").uid()).isEqualTo(UID);
    }

    /** It needs no spool, and is completed where it was made. */
    @Test
    void close_ofANewFileThatIsStreamed_leavesWhatAnotherMountGaveMeanwhile() {
        try (MemoryMount streams =
                MemoryMount.of(cluster.connect()).with("stream_from", "1M").open()) {
            try (OpenFile file = streams.create("/streamed")) {
                cluster.clock().advance(Duration.ofSeconds(1));
                file.write(0, new byte[2 << 20]);
                cluster.clock().advance(Duration.ofSeconds(10));
                long node = there.stat("/streamed").id();
                there.requests().chmod(node, 02600);
                there.requests().chown(node, UID);
            }
            cluster.clock().advance(Duration.ofSeconds(10));
            assertThat(streams.stat("/streamed").mode() & 07777).isEqualTo(02600);
            assertThat(streams.stat("/streamed").uid()).isEqualTo(UID);
        }
    }

    /** Another file has the path by which this one is known: it keeps its attributes. */
    @Test
    void removexattr_ofFileThatAnotherMountRenamed_takesItFromNoOther() {
        long node = here.stat("/file").id();
        here.requests().setxattr(node, "user.a", "1");
        here.requests().getxattr(node, "user.a");
        there.rename("/file", "/renamed");
        there.write("/file", "other");
        there.requests().setxattr(there.lookup("/file").id(), "user.a", "2");
        here.requests().removexattr(node, "user.a");
        assertThat(there.requests().getxattr(there.lookup("/file").id(), "user.a"))
                .isEqualTo("2");
        cluster.clock().advance(Duration.ofSeconds(10));
        assertThat(there.requests().listxattr(there.lookup("/renamed").id())).isEmpty();
    }

    /** As {@code touch -h}, or utimensat(2) with a path. */
    @Test
    void time_setByPath_leavesOwnerAndModeThatAnotherMountGave() {
        here.requests().setModified(here.stat("/file").id(), Duration.ofSeconds(1));
        bothSeeWhatWasGiven();
    }
}
