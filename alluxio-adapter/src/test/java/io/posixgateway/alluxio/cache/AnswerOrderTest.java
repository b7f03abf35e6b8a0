package io.posixgateway.alluxio.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Responses that come when this mount has changed, since they were asked for, what they are about: they are older than the change. */
class AnswerOrderTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryMount mount = MemoryMount.of(cluster.connect())
            .with("metadata_ttl", "1h")
            .with("open_trust", "0")
            .open();
    private final MemoryMount other =
            MemoryMount.of(cluster.connect()).with("metadata_ttl", "0").open();

    @AfterEach
    void unmount() {
        mount.close();
        other.close();
    }

    private void open(FuseNode file) {
        mount.requests().release(mount.requests().open(file, Stat.O_RDONLY));
    }

    /** The next look at a file or directory is answered when the work is done. */
    private void duringStatus(String path, Runnable work) {
        mount.faults().on(StoreCall.STATUS).at(path).after(work);
    }

    @Test
    void getattr_answeredBeforeChmod_showsWhatChmodMade() {
        mount.write("/file", "text");
        FuseNode file = mount.stat("/file");
        mount.fileSystem().invalidate("/file");
        duringStatus("/file", () -> mount.requests().chmod(file.id(), 0600));
        assertThat(mount.requests().getattr(file.id()).mode() & 0777).isEqualTo(0600);
        assertThat(mount.requests().getattr(file.id()).mode() & 0777).isEqualTo(0600);
    }

    @Test
    void getxattr_answeredBeforeRemoval_isAskedAgain() {
        mount.write("/file", "text");
        FuseNode file = mount.stat("/file");
        mount.requests().setxattr(file.id(), "user.a", "value");
        mount.fileSystem().invalidate("/file");
        duringStatus("/file", () -> mount.requests().removexattr(file.id(), "user.a"));
        assertThatThrownBy(() -> mount.requests().getxattr(file.id(), "user.a"))
                .isInstanceOfSatisfying(
                        FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODATA));
    }

    /** The id that was answered is of the content before: no reason to look for a file that moved. */
    @Test
    void getattr_answeredBeforeWrite_isAskedAgainAtOnce() {
        mount.write("/file", "text");
        FuseNode file = mount.stat("/file");
        mount.fileSystem().invalidate("/file");
        mount.faults().forgetCounts();
        duringStatus("/file", () -> mount.write("/file", "longer text"));
        assertThat(mount.requests().getattr(file.id()).lengthBytes()).isEqualTo(11);
        assertThat(mount.faults().count(StoreCall.PATH_OF))
                .as("for the number that the new content shows")
                .isEqualTo(1);
    }

    /** What chmod made is of the content that was known, which another mount has completed since: neither is believed. */
    @Test
    void open_answeredBeforeChmodOfOlderContent_forgetsBoth() {
        FuseNode file;
        try (MemoryMount.OpenFile made = other.create("/file")) {
            made.write("text");
            file = mount.stat("/file");
            assertThat(file.lengthBytes()).isZero();
        }
        duringStatus("/file", () -> mount.requests().chmod(file.id(), 0600));
        open(file);
        FuseNode now = mount.requests().getattr(file.id());
        assertThat(now.lengthBytes()).isEqualTo(4);
        assertThat(now.mode() & 0777).isEqualTo(0600);
    }
}
