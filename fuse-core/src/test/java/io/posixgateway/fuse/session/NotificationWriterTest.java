package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The child that writes notifications, to a descriptor of /dev/fuse that is no connection: the kernel refuses each of them with EPERM. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NotificationWriterTest {
    private final int fd = Native.openDevice();
    private final Set<Long> before = children();
    private final NotificationWriter writer = new NotificationWriter(use -> use.applyAsInt(fd));
    private final ByteBuffer notification =
            ByteBuffer.allocateDirect(NotificationFormat.MAX_BYTES).order(ByteOrder.nativeOrder());
    private final int bytes = NotificationFormat.invalidateInode(notification, 0, 5, 0, 0);

    @AfterEach
    void end() {
        writer.close();
        Native.close(fd);
    }

    private static Set<Long> children() {
        return ProcessHandle.current().children().map(ProcessHandle::pid).collect(Collectors.toSet());
    }

    private List<ProcessHandle> writers() {
        return ProcessHandle.current()
                .children()
                .filter(child -> !before.contains(child.pid()))
                .filter(child -> child.info().command().orElse("").contains("pgw-notice-writer"))
                .toList();
    }

    @Test
    void itTellsWhatTheKernelSaid_withOneChildForAll() {
        assertThat(writers()).as("before there is a notice").isEmpty();
        assertThat(writer.carry(notification, bytes)).isEqualTo(-Errno.EPERM);
        assertThat(writer.carry(notification, bytes)).isEqualTo(-Errno.EPERM);
        assertThat(writers()).hasSize(1);
    }

    @Test
    void aChildThatWasKilled_isReplaced() throws Exception {
        assertThat(writer.carry(notification, bytes)).isEqualTo(-Errno.EPERM);
        ProcessHandle first = writers().get(0);
        first.destroyForcibly();
        Eventually.holds("it is gone", () -> !first.isAlive());
        assertThat(writer.carry(notification, bytes)).isEqualTo(-Errno.EPERM);
        assertThat(writers()).hasSize(1).doesNotContain(first);
    }

    /** Nobody else would write it: what is dropped here, programs go on to see as it was. */
    @Test
    void whatItsChildrenDieOver_isLeftToTheCaller() {
        NotificationWriter fatal = new NotificationWriter(use -> {
            int given = use.applyAsInt(fd);
            writers().forEach(NotificationWriterTest::kill);
            return given;
        });
        try {
            assertThat(fatal.carry(notification, bytes)).isEqualTo(NotificationProxy.AWAY);
        } finally {
            fatal.close();
        }
    }

    private static void kill(ProcessHandle child) {
        child.destroyForcibly();
        child.onExit().join();
    }

    @Test
    void theChildEnds_whenItIsNotNeeded_andAtTheEnd() throws Exception {
        assertThat(writer.carry(notification, bytes)).isEqualTo(-Errno.EPERM);
        writer.rest();
        Eventually.holds("it ended", () -> writers().isEmpty());
        assertThat(writer.carry(notification, bytes)).isEqualTo(-Errno.EPERM);
        writer.close();
        Eventually.holds("it ended", () -> writers().isEmpty());
        assertThat(writer.carry(notification, bytes)).isEqualTo(-Errno.ENOTCONN);
    }
}
