package io.posixgateway.alluxio.meta;

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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
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
        assertThat(mount.faults().count(StoreCall.PATH_OF)).isZero();
    }

    /** Of the same file: what another mount changed in between stays seen. */
    @Test
    void getattr_answeredBeforeALaterOne_showsWhatThatFound() {
        mount.write("/file", "text");
        FuseNode file = mount.stat("/file");
        mount.fileSystem().invalidate("/file");
        duringStatus("/file", () -> {
            other.requests().chmod(other.lookup("/file").id(), 0600);
            assertThat(mount.requests().getattr(file.id()).mode() & 0777).isEqualTo(0600);
        });
        mount.requests().getattr(file.id());
        assertThat(mount.requests().getattr(file.id()).mode() & 0777).isEqualTo(0600);
    }

    /** Whoever has what is known forgotten knows of a change by others. */
    @Test
    void getattr_answeredBeforeInvalidation_isAskedAgain() {
        mount.write("/file", "text");
        FuseNode file = mount.stat("/file");
        mount.fileSystem().invalidate("/file");
        duringStatus("/file", () -> {
            other.write("/file", "longer text");
            mount.fileSystem().invalidate("/file");
        });
        assertThat(mount.requests().getattr(file.id()).lengthBytes()).isEqualTo(11);
    }

    /** Below it nothing changed, but the path of the request leads nowhere. */
    @Test
    void lookup_whosePathIsOfBeforeRenameOfItsDirectory_isAskedAgain() {
        long directory = directoryWithFile();
        mount.fileSystem().invalidate("/d/file");
        mount.faults().on(StoreCall.STATUS).at("/d/file").before(() -> mount.rename("/d", "/e"));
        assertThat(mount.requests().lookup(directory, "file").id()).isNotZero();
    }

    /** By its id Alluxio says where it is, which is of yesterday, too. */
    @Test
    void getattr_whosePathsAreOfBeforeRenamesOfItsDirectory_isAskedAgain() {
        directoryWithFile();
        FuseNode file = mount.stat("/d/file");
        mount.fileSystem().invalidate("/d/file");
        mount.faults().on(StoreCall.STATUS).at("/d/file").before(() -> mount.rename("/d", "/e"));
        mount.faults().on(StoreCall.PATH_OF).after(() -> mount.rename("/e", "/f"));
        assertThat(mount.requests().getattr(file.id()).lengthBytes()).isEqualTo(4);
    }

    @Test
    void readdir_whosePathIsOfBeforeRenameOfTheDirectory_isAskedAgain() {
        directoryWithFile();
        try (MemoryMount.Bound directory = mount.bind("/d")) {
            mount.faults().on(StoreCall.LIST).at("/d").before(() -> mount.rename("/d", "/e"));
            assertThat(mount.namesOf(directory)).containsExactly("file");
        }
    }

    private long directoryWithFile() {
        mount.mkdir("/d");
        mount.write("/d/file", "text");
        return mount.lookup("/d").id();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The request is answered just before the change is made, and its response applied just after it. */
    private void beside(StoreCall change, Runnable request, StoreCall sent, Runnable changes) throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        CountDownLatch changed = new CountDownLatch(1);
        FutureTask<Integer> late = new FutureTask<>(request, 0);
        mount.faults().on(change).before(() -> {
            mount.faults().on(sent).after(() -> {
                answered.countDown();
                await(changed);
            });
            new Thread(late, "late").start();
            await(answered);
        });
        changes.run();
        changed.countDown();
        late.get(60, TimeUnit.SECONDS);
    }

    /** What chmod made is of the content that it found, which another mount has completed since: neither is believed. */
    @Test
    void open_answeredBeforeChmodOfOlderContent_forgetsBoth() throws Exception {
        MemoryMount.OpenFile made = other.create("/file");
        made.write("text");
        FuseNode file = mount.stat("/file");
        assertThat(file.lengthBytes()).isZero();
        Runnable late = () -> {
            made.close();
            open(file);
        };
        beside(StoreCall.CHANGE, late, StoreCall.STATUS, () -> mount.requests().chmod(file.id(), 0600));
        FuseNode now = mount.requests().getattr(file.id());
        assertThat(now.lengthBytes()).isEqualTo(4);
        assertThat(now.mode() & 0777).isEqualTo(0600);
    }

    @Test
    void open_answeredBeforeRemovalOfAnAttribute_doesNotBringItBack() throws Exception {
        mount.write("/file", "text");
        FuseNode file = mount.stat("/file");
        mount.requests().setxattr(file.id(), "user.a", "value");
        beside(StoreCall.REMOVE_XATTR, () -> open(file), StoreCall.STATUS, () -> mount.requests()
                .removexattr(file.id(), "user.a"));
        assertThat(mount.requests().listxattr(file.id())).isEmpty();
    }

    @Test
    void list_answeredBeforeClose_doesNotShowTheFileAsEmpty() throws Exception {
        MemoryMount.OpenFile file = mount.create("/file").write("text");
        beside(StoreCall.COMPLETE, () -> mount.list("/"), StoreCall.LIST, file::close);
        assertThat(mount.stat("/file").lengthBytes()).isEqualTo(4);
    }
}
