package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.FuseCalls;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.session.MountException;
import io.posixgateway.fuse.session.PersistentSession;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
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

    private void refuse(RefusedSessions refused) throws Exception {
        refused.refuse(
                "vol",
                RECORD,
                MountOptions.kept(FileSystemFactory.OPTIONS.read(Map.of()), "vol", false),
                "A test says so");
    }

    /** A later version wrote its memory, say. */
    @Test
    void a_session_that_cannot_even_be_refused_is_ended_and_hangs_nobody() throws Exception {
        Path mountPoint = Files.createDirectory(folder.resolve("mount"));
        RefusedSessions refused = new RefusedSessions(keeper, Clock.system());
        try (Program holds = startKeeper()) {
            keeper.mount(new KeeperClient.Mount("vol", mountPoint.toString(), "test", false, false, true, List.of()));
            refuse(refused); // until it is mounted in the kernel's eyes, too
            refused.endAll();
            PersistentSession kept = keeper.take("vol");
            Files.write(
                    Path.of("/proc/self/fd/" + kept.memoryFd()),
                    new byte[] {9, 9, 9, 9, 9, 9, 9, 9},
                    StandardOpenOption.WRITE);
            kept.close();
            assertThatThrownBy(() -> refuse(refused)).isInstanceOf(MountException.class);
            String file = mountPoint.resolve("file").toString();
            try (Program reads = Program.start(folder, List.of("/bin/cat", file))) {
                FuseCalls.awaitAny(reads.pid());
                refused.abort("vol", "A test says so");
                assertThat(reads.await(LIMIT)).as(reads.output()).isNotZero();
                assertThat(reads.output()).containsAnyOf("not connected", "connection abort");
            }
            assertThat(keeper.list()).isEmpty();
            assertThat(holds.isAlive()).isTrue();
        }
    }

    /** Such as by a process that has no room for its descriptors. */
    @Test
    void a_session_that_the_keeper_cannot_give_is_ended() throws Exception {
        List<String> asked = Collections.synchronizedList(new ArrayList<>());
        RefusedSessions refused = new RefusedSessions(keeper, Clock.system());
        Thread answers;
        try (ServerSocketChannel fake = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            fake.bind(UnixDomainSocketAddress.of(socket));
            answers = new Thread(() -> answerWithoutDescriptors(fake, asked));
            answers.start();
            assertThatThrownBy(() -> refuse(refused)).isInstanceOf(KeeperException.class);
            refused.abort("vol", "A test says so");
        }
        answers.join();
        assertThat(asked).hasSize(3).last(InstanceOfAssertFactories.STRING).contains("unmount", "\"force\":true");
    }

    private static void answerWithoutDescriptors(ServerSocketChannel keeper, List<String> asked) {
        try {
            while (true) {
                try (SocketChannel connection = keeper.accept()) {
                    ByteBuffer question = ByteBuffer.allocate(4096);
                    connection.read(question);
                    asked.add(new String(question.array(), 0, question.position(), StandardCharsets.UTF_8));
                    String answer = "{\"ok\":true,\"target\":\"/t\",\"read_only\":false,\"takes\":0}\n";
                    connection.write(StandardCharsets.UTF_8.encode(answer));
                }
            }
        } catch (IOException closed) {
            assertThat(keeper.isOpen()).isFalse();
        }
    }

    @Test
    void a_session_that_is_refused_is_given_to_the_next_keeper() throws Exception {
        Path mountPoint = Files.createDirectory(folder.resolve("mount"));
        RefusedSessions refused = new RefusedSessions(keeper, Clock.system());
        Program first = startKeeper();
        keeper.mount(new KeeperClient.Mount("vol", mountPoint.toString(), "test", false, false, true, List.of()));
        refuse(refused);
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
