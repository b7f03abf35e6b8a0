package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.RecordingKernel.Notification;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Changes of which nobody knows whether Alluxio made them, or will: for a while the names concerned are asked for each time, and the
 * kernel believes nothing of them.
 */
class UnknownOutcomeTest {
    private static final Duration NOTHING = Duration.ZERO;
    /** So long a request may be done late. */
    private static final Duration LATE = Duration.ofMinutes(1);

    private static final Duration SOON = Duration.ofSeconds(20);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryMount mount = MemoryMount.of(cluster.connect())
            .with("metadata_ttl", "1h")
            .with("negative_ttl", "1h")
            .open();
    /** Does late what was lost. */
    private final MemoryMount other =
            MemoryMount.of(cluster.connect()).with("metadata_ttl", "0").open();

    @AfterEach
    void unmount() {
        mount.close();
        other.close();
    }

    private static void fails(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    private FuseNode lookup(String name) {
        return mount.requests().lookup(FuseRequests.ROOT, name);
    }

    @Test
    void unlink_whoseAnswerIsLost_isSeenAtOnce() throws Exception {
        mount.write("/file", "text");
        mount.write("/beside", "text");
        mount.list("/");
        mount.list("/");
        mount.stat("/file");
        mount.kernel().clear();
        mount.faults().on(StoreCall.DELETE).loseAnswer();
        fails(() -> mount.unlink("/file"));
        mount.kernel().await(Notification.entry(FuseRequests.ROOT, "file"));
        assertThat(mount.list("/")).containsExactly("beside");
        assertThat(mount.exists("/file")).isFalse();
    }

    @Test
    void unlink_thatIsDoneLate_isSeenWhenItIs() {
        mount.write("/file", "text");
        assertThat(lookup("file").nameValid()).isPositive();
        mount.faults().on(StoreCall.DELETE).loseRequest();
        fails(() -> mount.unlink("/file"));
        assertThat(lookup("file").nameValid()).isEqualTo(NOTHING);
        assertThat(lookup("file").attributesValid()).isEqualTo(NOTHING);
        assertThat(mount.list("/")).containsExactly("file");
        assertThat(mount.list("/")).containsExactly("file");
        other.unlink("/file");
        assertThat(mount.list("/")).isEmpty();
        assertThat(mount.exists("/file")).isFalse();
    }

    @Test
    void unlink_thatIsNotDone_isForgottenAfterAWhile() {
        mount.write("/file", "text");
        mount.faults().on(StoreCall.DELETE).loseRequest();
        fails(() -> mount.unlink("/file"));
        cluster.clock().advance(LATE);
        assertThat(lookup("file").nameValid()).isPositive();
        assertThat(mount.read("/file")).isEqualTo("text");
        mount.unlink("/file");
        assertThat(mount.exists("/file")).isFalse();
    }

    @Test
    void rmdir_whoseAnswerIsLost_isSeenAtOnce() {
        mount.mkdir("/d");
        mount.stat("/d");
        mount.faults().on(StoreCall.DELETE).loseAnswer();
        fails(() -> mount.rmdir("/d"));
        assertThat(mount.exists("/d")).isFalse();
    }

    @Test
    void rename_whoseAnswerIsLost_isSeenAtOnceUnderBothNames() throws Exception {
        mount.write("/from", "text");
        assertThat(mount.exists("/to")).isFalse();
        mount.kernel().clear();
        mount.faults().on(StoreCall.RENAME).loseAnswer();
        fails(() -> mount.rename("/from", "/to"));
        mount.kernel().await(Notification.entry(FuseRequests.ROOT, "to"));
        assertThat(mount.read("/to")).isEqualTo("text");
        assertThat(mount.exists("/from")).isFalse();
        assertThat(mount.list("/")).containsExactly("to");
    }

    @Test
    void rename_thatIsDoneLate_isSeenWhenItIs() {
        mount.write("/from", "text");
        assertThat(mount.exists("/to")).isFalse();
        mount.faults().on(StoreCall.RENAME).loseRequest();
        fails(() -> mount.rename("/from", "/to"));
        assertThat(mount.exists("/to")).isFalse();
        assertThat(lookup("from").nameValid()).isEqualTo(NOTHING);
        other.rename("/from", "/to");
        assertThat(mount.exists("/from")).isFalse();
        assertThat(mount.read("/to")).isEqualTo("text");
    }

    @Test
    void mkdir_thatIsDoneLate_isSeenWhenItIs() {
        mount.faults().on(StoreCall.MAKE_DIRECTORY).loseRequest();
        fails(() -> mount.mkdir("/d"));
        assertThat(mount.exists("/d")).isFalse();
        other.mkdir("/d");
        assertThat(mount.exists("/d")).isTrue();
        assertThat(lookup("d").nameValid()).isEqualTo(NOTHING);
        cluster.clock().advance(LATE);
        assertThat(lookup("d").nameValid()).isPositive();
    }

    /** It was made, and then not found: nobody answered. */
    @Test
    void mkdir_whoseLookupFails_isSeenAtOnce() {
        mount.requests().getattr(FuseRequests.ROOT); // the first time that it is seen, names are forgotten
        assertThat(mount.exists("/d")).isFalse();
        mount.faults().on(StoreCall.STATUS).at("/d").fail(Errno.EIO);
        fails(() -> mount.mkdir("/d"));
        assertThat(mount.exists("/d")).isTrue();
    }

    /** What was made is removed, as soon as Alluxio answers: before the name counts as known again, or when it does for long. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void create_whoseAnswerIsLost_leavesNoNameWhenItIsUndone(boolean late) throws Exception {
        mount.faults().on(StoreCall.CREATE).loseAnswer();
        StoreFaults.Held undone = mount.faults().on(StoreCall.CREATE).hold();
        fails(() -> mount.create("/new"));
        undone.await();
        cluster.clock().advance(late ? LATE : NOTHING);
        assertThat(mount.list("/")).containsExactly("new");
        cluster.clock().advance(Duration.ofSeconds(1));
        undone.open();
        Eventually.holds("it is gone", SOON, () -> !mount.exists("/new"));
        assertThat(mount.requests().getattr(FuseRequests.ROOT).modifiedMillis())
                .isEqualTo(cluster.clock().instant().toEpochMilli());
    }

    @Test
    void unlink_thatIsDoneLate_movesTheTimeOfItsDirectoryWhenItIs() throws Exception {
        mount.write("/file", "text");
        FuseNode before = mount.requests().getattr(FuseRequests.ROOT);
        assertThat(before.attributesValid()).isPositive();
        mount.kernel().clear();
        mount.faults().on(StoreCall.DELETE).loseRequest();
        fails(() -> mount.unlink("/file"));
        mount.kernel().await(Notification.attributes(FuseRequests.ROOT));
        FuseNode during = mount.requests().getattr(FuseRequests.ROOT);
        assertThat(during.attributesValid()).isEqualTo(NOTHING);
        cluster.clock().advance(Duration.ofSeconds(10));
        other.unlink("/file");
        assertThat(mount.requests().getattr(FuseRequests.ROOT).modifiedMillis()).isGreaterThan(during.modifiedMillis());
        cluster.clock().advance(LATE);
        assertThat(mount.requests().getattr(FuseRequests.ROOT).attributesValid())
                .isPositive();
    }

    /** Nobody asks while it counts as in flight. */
    @Test
    void chmod_whoseAnswerIsLost_isSeenLater() {
        mount.write("/file", "text");
        FuseNode file = mount.stat("/file");
        mount.faults().on(StoreCall.CHANGE).loseAnswer();
        fails(() -> mount.requests().chmod(file.id(), 0600));
        cluster.clock().advance(LATE);
        assertThat(mount.requests().getattr(file.id()).mode() & 0777).isEqualTo(0600);
    }

    /** It has no name that could be in flight. */
    @Test
    void chmod_ofRootWhoseAnswerIsLost_isSeenAtOnce() throws Exception {
        mount.requests().getattr(FuseRequests.ROOT);
        mount.kernel().clear();
        mount.faults().on(StoreCall.CHANGE).loseAnswer();
        fails(() -> mount.requests().chmod(FuseRequests.ROOT, 0700));
        assertThat(mount.requests().getattr(FuseRequests.ROOT).mode() & 0777).isEqualTo(0700);
        mount.kernel().await(Notification.attributes(FuseRequests.ROOT));
    }

    @Test
    void chmod_whoseAnswerIsLost_isSeenAtOnce() throws Exception {
        mount.write("/file", "text");
        FuseNode file = mount.stat("/file");
        mount.kernel().clear();
        mount.faults().on(StoreCall.CHANGE).loseAnswer();
        fails(() -> mount.requests().chmod(file.id(), 0600));
        mount.kernel().await(Notification.attributes(file.id()));
        FuseNode now = mount.requests().getattr(file.id());
        assertThat(now.mode() & 0777).isEqualTo(0600);
        assertThat(now.attributesValid()).isEqualTo(NOTHING);
    }

    /** Of the name nothing was known that could be newer. */
    @Test
    void lookup_answeredBeforeMkdirWhoseAnswerIsLost_isAskedAgain() {
        mount.faults().on(StoreCall.MAKE_DIRECTORY).loseAnswer();
        mount.faults().on(StoreCall.STATUS).at("/d").after(() -> fails(() -> mount.mkdir("/d")));
        assertThat(mount.exists("/d")).isTrue();
    }

    /** Answered before it: it is of a time before the change, which may have been made. */
    @Test
    void lookup_answeredBeforeUnlinkWhoseAnswerIsLost_isAskedAgain() {
        mount.write("/file", "text");
        mount.fileSystem().invalidate("/file");
        mount.faults().on(StoreCall.DELETE).loseAnswer();
        mount.faults().on(StoreCall.STATUS).at("/file").after(() -> fails(() -> mount.unlink("/file")));
        assertThat(mount.exists("/file")).isFalse();
    }
}
