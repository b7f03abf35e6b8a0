package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.time.Clock;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeeperClientTest {
    private static final int TIMEOUT_MILLIS = 1000;

    @Test
    void without_a_keeper_there_are_no_sessions_to_wait_for() throws Exception {
        KeeperClient none = new KeeperClient(Path.of(""), TIMEOUT_MILLIS, Clock.system());
        assertThat(none.list()).isEmpty();
        assertThatThrownBy(none::pid).isInstanceOf(KeeperException.class);
    }

    /** The test's own user is root where it may give a file away. */
    @Test
    void socket_ofAnotherUser_isNotBelieved(@TempDir Path folder) throws Exception {
        assumeTrue(System.getProperty("user.name", "").equals("root"), "only root gives files away");
        Path path = folder.resolve("keeper.sock");
        KeeperClient client = new KeeperClient(path, TIMEOUT_MILLIS, Clock.system());
        try (ServerSocketChannel other = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            other.bind(UnixDomainSocketAddress.of(path));
            Files.setAttribute(path, "unix:uid", 54_321);
            assertThatThrownBy(client::list)
                    .hasMessageContaining("belongs neither to root nor to the user of this process");
        }
    }

    @Test
    void socket_thatOthersCouldReplace_isNotBelieved(@TempDir Path folder) throws Exception {
        Path open = Files.createDirectory(folder.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        KeeperClient client = new KeeperClient(open.resolve("keeper.sock"), TIMEOUT_MILLIS, Clock.system());
        assertThatThrownBy(client::list).hasMessageContaining("chmod o-w " + open);
    }

    @Test
    void one_that_does_not_answer_yet_is_another_thing(@TempDir Path folder) {
        KeeperClient late = new KeeperClient(folder.resolve("keeper.sock"), TIMEOUT_MILLIS, Clock.system());
        assertThatThrownBy(late::list).isInstanceOf(KeeperException.class);
    }

    /** Without its lock it would be served, and the keeper would take it for one that nobody serves. */
    @Test
    void session_whoseLockDidNotCome_isRefused() throws Exception {
        KeeperClient client = new KeeperClient(Path.of(""), TIMEOUT_MILLIS, Clock.system());
        KeeperResponse.Taken withLock =
                new KeeperResponse.Taken("/mnt/data", false, 0, "0:50", List.of("clone", "lock"));
        assertThatThrownBy(() -> client.session("a", withLock, new int[] {3, 4, 5, -1}))
                .isInstanceOf(KeeperException.class)
                .hasMessageContaining("did not send each descriptor of session a");
        assertThat(client.session("a", withLock, new int[] {3, 4, 5, 6}).lockFd())
                .isEqualTo(6);
        KeeperResponse.Taken ofEarlierKeeper = new KeeperResponse.Taken("/mnt/data", false, 0, "0:50", List.of());
        assertThat(client.session("a", ofEarlierKeeper, new int[] {3, 4, -1, -1})
                        .lockFd())
                .isEqualTo(-1);
    }

    @Test
    void a_connection_ends_with_its_keeper_and_not_before(@TempDir Path folder) throws Exception {
        Path path = folder.resolve("keeper.sock");
        KeeperClient client = new KeeperClient(path, TIMEOUT_MILLIS, Clock.system());
        try (KeeperWatch.Connection none = client.connect(1_000_000)) {
            assertThat(none.awaitEnd()).isTrue();
        }
        try (ServerSocketChannel keeper = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            keeper.bind(UnixDomainSocketAddress.of(path));
            try (KeeperWatch.Connection connection = client.connect(1_000_000)) {
                SocketChannel accepted = keeper.accept();
                assertThat(connection.awaitEnd()).isFalse();
                accepted.close();
                assertThat(connection.awaitEnd()).isTrue();
            }
        }
    }
}
