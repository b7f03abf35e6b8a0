package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.control.proto.Cluster;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.journal.VolumeStateDir;
import io.posixgateway.fuse.time.Clock;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** When an attach stores its request with the keeper, which may be gone the moment after. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StoredRequestTest {
    private static final AttachRequest EARLIER = request("earlier");

    private final Path folder;
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final ServerSocketChannel listener;
    private volatile byte[] stored = EARLIER.toByteArray();

    StoredRequestTest(@TempDir Path folder) throws IOException {
        this.folder = folder;
        listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listener.bind(UnixDomainSocketAddress.of(folder.resolve("keeper.sock")));
        Thread keeper = new Thread(this::answerAll, "keeper");
        keeper.setDaemon(true);
        keeper.start();
    }

    @AfterEach
    void end() throws IOException {
        listener.close();
    }

    private static AttachRequest request(String label) {
        return AttachRequest.newBuilder()
                .setVolume("v")
                .setAlluxioPath("/")
                .setCluster(Cluster.newBuilder().setMasters("127.0.0.1:1"))
                .putLabels("is", label)
                .build();
    }

    private void answerAll() {
        try {
            while (true) {
                try (SocketChannel client = listener.accept()) {
                    BufferedReader lines = new BufferedReader(Channels.newReader(client, StandardCharsets.UTF_8));
                    String answer =
                            answer(JsonParser.parseString(lines.readLine()).getAsJsonObject());
                    client.write(ByteBuffer.wrap((answer + "\n").getBytes(StandardCharsets.UTF_8)));
                }
            }
        } catch (ClosedChannelException e) {
            // the test is over
        } catch (IOException e) {
            asked.add(e.toString());
        }
    }

    /** Nobody gets a session of it. */
    private String answer(JsonObject question) throws IOException {
        String operation = question.get("op").getAsString();
        if (!question.has("data")) {
            asked.add(operation);
        } else {
            byte[] data = Base64.getDecoder().decode(question.get("data").getAsString());
            asked.add(operation + " " + AttachRequest.parseFrom(data).getLabelsOrThrow("is"));
        }
        return operation.equals("record")
                ? "{\"ok\":true,\"data\":\"" + Base64.getEncoder().encodeToString(stored) + "\"}"
                : "{\"ok\":false,\"code\":\"failed\",\"error\":\"none is left\"}";
    }

    @Test
    void attach_withAnEarlierNameOfAnOption_warnsOnceForEachVolume() throws Exception {
        Logging.setUp("INFO");
        String begin = "begin " + UUID.randomUUID(); // this test may run again in this JVM
        LoggerFactory.getLogger(StoredRequestTest.class).info(begin);
        Volumes volumes = volumes();
        AttachRequest request =
                request("now").toBuilder().putOptions("stand_back", "off").build();
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> volumes.attach(request)).isInstanceOf(ServiceException.class);
        }
        assertThat(Logging.recent().split(begin, -1)[1].lines())
                .filteredOn(line -> line.contains("Volume v: option 'stand_back' was renamed to sched_idle"))
                .hasSize(1);
    }

    /** None of them asks Alluxio: the root's id was noted. */
    private Volumes volumes() throws Exception {
        Path spool = folder.resolve("spool");
        try (VolumeStateDir own = VolumeStateDir.open(spool.resolve("v"))) {
            own.rootIs(0);
        }
        return volumes(spool, MemoryGroup.Reading.NONE);
    }

    @Test
    void it_is_stored_before_the_session_is_taken_and_taken_back_where_that_fails() throws Exception {
        Volumes volumes = volumes();
        assertThatThrownBy(() -> volumes.attach(request("now"))).hasMessageContaining("none is left");
        assertThat(asked).containsExactly("record", "record now", "take", "record earlier");
    }

    /** What was served before, by whichever process, is served again: programs wait for it. */
    @Test
    void where_memory_is_short_only_a_volume_that_nobody_served_is_refused() throws Exception {
        Path spool = folder.resolve("spool");
        try (VolumeStateDir own = VolumeStateDir.open(spool.resolve("v"))) {
            own.rootIs(0);
        }
        Volumes volumes = volumes(spool, new MemoryGroup.Reading(99, 100, 0));
        assertThatThrownBy(() -> volumes.attach(request("now"))).hasMessageContaining("none is left");
        asked.clear();
        stored = new byte[0];
        assertThatThrownBy(() -> volumes.attach(request("now")))
                .isInstanceOfSatisfying(
                        ServiceException.class, e -> assertThat(e.kind()).isEqualTo(ServiceException.Kind.UNAVAILABLE))
                .hasMessageContaining("accepts no new volume for now")
                .hasMessageContaining("node.gateway.resources.limits.memory");
        assertThat(asked).containsExactly("record");
    }

    /** A minute later its programs get EIO, by {@link TakeoverTest}: waiting for Alluxio would never end. */
    @Test
    void a_session_whose_folder_is_not_trusted_is_refused_and_does_not_wait() throws Exception {
        Path spool = Files.createDirectory(folder.resolve("spool"));
        Files.createSymbolicLink(spool.resolve("v"), Files.createDirectory(folder.resolve("elsewhere")));
        Volumes volumes = volumes(spool, MemoryGroup.Reading.NONE);
        assertThatThrownBy(() -> volumes.resume(request("earlier")))
                .isInstanceOfSatisfying(
                        ServiceException.class, e -> assertThat(e.kind()).isEqualTo(ServiceException.Kind.DENIED))
                .hasMessageContaining("is a link");
    }

    private Volumes volumes(Path spool, MemoryGroup.Reading memory) throws Exception {
        Clock clock = Clock.system();
        AlluxioMount.Shared shared = AlluxioMount.Shared.ofOne(clock);
        MemoryWatch watch = new MemoryWatch(() -> memory, () -> MemoryGroup.Reading.NONE, shared.cache(), () -> {});
        watch.look();
        Map<String, String> own = Map.of("spool", spool.toString());
        return new Volumes(
                new FileSystemFactory(null, own, BlockFolderRules.all(""), shared, watch),
                new KeeperClient(folder.resolve("keeper.sock"), 10_000, clock),
                folder,
                new BypassEndpoint(Path.of(""), clock));
    }
}
