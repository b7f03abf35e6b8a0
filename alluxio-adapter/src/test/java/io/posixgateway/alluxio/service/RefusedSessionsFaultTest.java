package io.posixgateway.alluxio.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The keeper crashes that holds a session which cannot be served. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RefusedSessionsFaultTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final byte[] RECORD = {1, 2, 3};

    private final Path folder;
    private final Path socket;
    private final KeeperClient keeper;

    RefusedSessionsFaultTest(@TempDir Path folder) {
        this.folder = folder;
        this.socket = folder.resolve("keeper.sock");
        this.keeper = new KeeperClient(socket, 20_000, Clock.system());
    }

    private Program startKeeper() throws Exception {
        Program started = Program.start(folder, List.of(Built.keeper().toString(), "--socket", socket.toString()));
        Waiting.until("the keeper answers", LIMIT, () -> {
            try {
                return keeper.pid() == started.pid();
            } catch (KeeperException notYet) {
                return false;
            }
        });
        return started;
    }

    private static void isRefused(Path mountPoint) {
        assertThatThrownBy(() -> Files.readString(mountPoint.resolve("file")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Input/output error");
    }

    @Test
    void a_session_that_is_refused_is_given_to_the_next_keeper() throws Exception {
        Path mountPoint = Files.createDirectory(folder.resolve("mount"));
        RefusedSessions refused = new RefusedSessions(keeper, Clock.system());
        Program first = startKeeper();
        keeper.mount(new KeeperClient.Mount("vol", mountPoint.toString(), "test", false, false, true, List.of()));
        refused.refuse(
                "vol",
                RECORD,
                MountOptions.kept(AlluxioVolumes.OPTIONS.read(Map.of()), "vol", false),
                "A test says so");
        isRefused(mountPoint);
        first.kill();
        try (Program second = startKeeper()) {
            assertThat(keeper.list()).isEmpty();
            for (KeeperWatch.Served one : refused.served()) {
                assertThat(one.give()).isTrue();
            }
            assertThat(keeper.list()).extracting(KeeperClient.Session::id).containsExactly("vol");
            assertThat(keeper.record("vol")).isEqualTo(RECORD);
            isRefused(mountPoint);
            refused.endAll();
            keeper.unmount("vol");
            assertThat(second.isAlive()).isTrue();
        }
    }
}
