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

    /** As {@code touch -h}, or utimensat(2) with a path. */
    @Test
    void time_setByPath_leavesOwnerAndModeThatAnotherMountGave() {
        here.requests().setModified(here.stat("/file").id(), Duration.ofSeconds(1));
        bothSeeWhatWasGiven();
    }
}
