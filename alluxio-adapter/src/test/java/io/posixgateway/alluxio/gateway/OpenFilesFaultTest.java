package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.harness.Walk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files and directories that were open, changed, deleted or being listed when the gateway was killed (twice, with something
 * done to each in between) go on as if nothing had happened.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OpenFilesFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int NAMES = 2500;
    private static final int BYTES = 300_000;
    private static final OpenOption[] UPDATE = {StandardOpenOption.READ, StandardOpenOption.WRITE};
    private static final OpenOption[] NEW = {
        StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE
    };

    private Path folder;
    private TestDirectory own;
    private Node node;
    private Path mount;
    private final List<FileChannel> open = new ArrayList<>();
    private FileChannel created;
    private FileChannel changed;
    private FileChannel synced;
    private FileChannel closedSoon;
    private FileChannel streamed;
    private FileChannel attributed;
    private FileChannel readOnly;
    private FileChannel deleted;
    private FileChannel deletedLater;
    private FileChannel deletedDirtyFile;
    private FileChannel replaced;
    private FileChannel locked;
    private Process flockHolder;
    private DirectoryStream<Path> listing;
    private Iterator<Path> names;
    private final List<String> seen = new ArrayList<>();

    @BeforeAll
    void killTwiceWithEverythingOpen(@TempDir Path temporary) throws Exception {
        folder = temporary;
        Built.keeper();
        assumeTrue(Built.isRoot(), "only root can run a keeper that mounts");
        own = Clusters.directory(Clusters.killable());
        prepare(own);
        node = new Node(folder);
        node.awaitReady();
        mount = node.mount("open.files");
        node.control()
                .attach(Node.request("open.files", own).toBuilder()
                        .putOptions("stream_from", "1M")
                        .putOptions("transport", transport())
                        .build());
        before();
        node.killAndRestartGateway();
        between();
        node.killAndRestartGateway();
    }

    /** Over what the session travels. */
    String transport() {
        return "devfuse";
    }

    private static void prepare(TestDirectory own) throws IOException {
        for (String name : List.of("changed", "read", "deleted", "deleted-later", "replaced", "locked")) {
            own.store(name, content(name.hashCode()));
        }
        for (int i = 0; i < NAMES; i++) {
            own.store(String.format("many/a-file-with-a-long-name-%06d", i), new byte[0]);
        }
    }

    @SuppressWarnings("StreamResourceLeak") // the listing stays open over the kills
    private void before() throws IOException {
        // First: a child closes copies of what is open here, which commits dirty files.
        flockHolder =
                new ProcessBuilder("flock", mount.resolve("locked").toString(), "sh", "-c", "echo held; cat").start();
        assertThat(flockHolder.inputReader().readLine()).isEqualTo("held");
        locked = open("locked", UPDATE);
        assertThat(locked.tryLock(10, 20, false)).isNotNull();
        created = open("created", NEW);
        write(created, 0, piece(1));
        changed = open("changed", UPDATE);
        write(changed, 1000, piece(2));
        synced = open("synced", NEW);
        for (int i = 0; i < 3; i++) {
            write(synced, i * 1000L, piece(i));
            synced.force(true);
        }
        closedSoon = open("closed-soon", NEW);
        write(closedSoon, 0, piece(3));
        streamed = open("streamed", NEW);
        for (int i = 0; i < 3; i++) {
            write(streamed, i * 1_000_000L, new byte[1_000_000]);
        }
        attributed = open("attributed", NEW);
        write(attributed, 0, piece(4));
        Files.setPosixFilePermissions(mount.resolve("attributed"), PosixFilePermissions.fromString("rw-r-----"));
        Files.setAttribute(mount.resolve("attributed"), "user:colour", ByteBuffer.wrap(bytes("blue")));
        Files.setLastModifiedTime(mount.resolve("attributed"), FileTime.fromMillis(1_000_000_000_000L));
        readOnly = open("read", StandardOpenOption.READ);
        deleted = open("deleted", StandardOpenOption.READ);
        Files.delete(mount.resolve("deleted"));
        deletedLater = open("deleted-later", StandardOpenOption.READ);
        deletedDirtyFile = open("deleted-draft", NEW);
        write(deletedDirtyFile, 0, piece(5));
        Files.delete(mount.resolve("deleted-draft"));
        replaced = open("replaced", StandardOpenOption.READ);
        listing = Files.newDirectoryStream(mount.resolve("many"));
        names = listing.iterator();
        list(100);
    }

    private void between() throws IOException {
        write(created, 1000, piece(6));
        write(changed, 5000, piece(7));
        write(synced, 1000, piece(8));
        closedSoon.close();
        Files.delete(mount.resolve("deleted-later"));
        write(deletedDirtyFile, 1000, piece(9));
        Files.write(mount.resolve("replacing"), piece(10));
        Files.move(mount.resolve("replacing"), mount.resolve("replaced"), StandardCopyOption.REPLACE_EXISTING);
        list(1500);
    }

    @Test
    @Order(1)
    void a_new_file_is_written_on_and_is_whole_after_its_close() throws Exception {
        write(created, 2000, piece(11));
        created.close();
        assertHolds("created", piece(1), piece(6), piece(11));
    }

    @Test
    @Order(1)
    void a_changed_file_keeps_its_old_bytes_and_the_new_ones() throws Exception {
        changed.truncate(200_000);
        changed.close();
        byte[] expected = java.util.Arrays.copyOf(content("changed".hashCode()), 200_000);
        System.arraycopy(piece(2), 0, expected, 1000, 1000);
        System.arraycopy(piece(7), 0, expected, 5000, 1000);
        assertHolds("changed", expected);
    }

    @Test
    @Order(1)
    void a_file_that_was_committed_several_times_is_still_the_same_node() throws Exception {
        Object key = Files.getAttribute(mount.resolve("synced"), "unix:ino");
        assertThat(read(synced, 0, 3000)).isEqualTo(join(piece(0), piece(8), piece(2)));
        write(synced, 3000, piece(12));
        synced.close();
        assertHolds("synced", piece(0), piece(8), piece(2), piece(12));
        assertThat(Files.getAttribute(mount.resolve("synced"), "unix:ino")).isEqualTo(key);
    }

    @Test
    @Order(1)
    void a_file_closed_while_nobody_serves_is_committed() throws Exception {
        assertHolds("closed-soon", piece(3));
    }

    @Test
    @Order(1)
    void a_file_that_was_being_streamed_is_lost_and_says_so() throws Exception {
        assertThatThrownBy(() -> write(streamed, 3_000_000, piece(1))).hasMessageContaining("Input/output error");
        assertThatThrownBy(streamed::close).hasMessageContaining("Input/output error");
        Files.write(mount.resolve("streamed"), piece(2));
        assertHolds("streamed", piece(2));
    }

    @Test
    @Order(1)
    void attributes_of_a_file_being_written_stay() throws Exception {
        attributed.close();
        Path path = mount.resolve("attributed");
        assertHolds("attributed", piece(4));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo("rw-r-----");
        assertThat(Files.getAttribute(path, "user:colour")).isEqualTo(bytes("blue"));
        assertThat(Files.getLastModifiedTime(path).toMillis()).isEqualTo(1_000_000_000_000L);
    }

    @Test
    @Order(1)
    void a_file_open_for_reading_is_read_on() throws Exception {
        assertThat(read(readOnly, 0, BYTES)).isEqualTo(content("read".hashCode()));
    }

    @Test
    @Order(1)
    void a_file_deleted_before_is_read_until_its_close() throws Exception {
        assertThat(read(deleted, 0, BYTES)).isEqualTo(content("deleted".hashCode()));
    }

    @Test
    @Order(1)
    void a_file_opened_before_and_deleted_after_is_read_until_its_close() throws Exception {
        assertThat(read(deletedLater, 0, BYTES)).isEqualTo(content("deleted-later".hashCode()));
        assertThat(mount.resolve("deleted-later")).doesNotExist();
    }

    @Test
    @Order(1)
    void a_new_file_that_was_deleted_keeps_its_content_until_its_close() throws Exception {
        assertThat(read(deletedDirtyFile, 0, 2000)).isEqualTo(join(piece(5), piece(9)));
        assertThat(mount.resolve("deleted-draft")).doesNotExist();
    }

    @Test
    @Order(1)
    void a_file_that_was_replaced_is_read_until_its_close_and_the_new_one_is_at_its_name() throws Exception {
        assertThat(read(replaced, 0, BYTES)).isEqualTo(content("replaced".hashCode()));
        assertHolds("replaced", piece(10));
    }

    @Test
    @Order(1)
    void a_long_listing_goes_on_without_a_gap_or_a_double() throws Exception {
        list(NAMES);
        assertThat(seen).hasSize(NAMES).doesNotHaveDuplicates();
    }

    @Test
    @Order(2)
    void locks_are_held_as_before_and_let_go() throws Exception {
        Path path = mount.resolve("locked");
        assertThat(child("flock", "--nonblock", path.toString(), "true")).isEqualTo(1);
        assertThat(posixLock(path, 5, 5)).as("beside the range").isZero();
        assertThat(posixLock(path, 15, 1)).as("in the range").isEqualTo(11);
        flockHolder.getOutputStream().close();
        assertThat(flockHolder.waitFor()).isZero();
        locked.close();
        // Nobody waits for the last release.
        Waiting.until("the file is free", LIMIT, () -> child("flock", "--nonblock", path.toString(), "true") == 0);
        assertThat(posixLock(path, 15, 1)).isZero();
    }

    /** What a child gets that tries to lock so many bytes: 0 or an errno. */
    private static int posixLock(Path path, long at, long bytes) throws Exception {
        return child(
                "python3",
                "-c",
                "import fcntl, sys\nwith open(sys.argv[1], 'r+b') as f:\n  try:\n    fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB,"
                        + " int(sys.argv[3]), int(sys.argv[2]))\n  except OSError as e:\n    sys.exit(e.errno)",
                path.toString(),
                Long.toString(at),
                Long.toString(bytes));
    }

    private static int child(String... command) throws Exception {
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    @Test
    @Order(3)
    void nothing_is_left_when_all_is_closed() throws Exception {
        for (FileChannel channel : open) {
            channel.close();
        }
        listing.close();
        Waiting.until("the spool holds no changed files", LIMIT, () -> count(folder.resolve("spool"), "spool-") == 0);
        Waiting.until("Alluxio holds no hidden files", LIMIT, () -> own.storedNames("").stream()
                .noneMatch(name -> name.startsWith(".pgw~")));
    }

    private static long count(Path root, String prefix) {
        return Walk.files(root).stream()
                .filter(file -> file.getFileName().toString().startsWith(prefix))
                .count();
    }

    private FileChannel open(String name, OpenOption... options) throws IOException {
        FileChannel channel = FileChannel.open(mount.resolve(name), options);
        open.add(channel);
        return channel;
    }

    private void list(int most) {
        while (seen.size() < most && names.hasNext()) {
            seen.add(names.next().getFileName().toString());
        }
    }

    /** Seen through the mount, and in what Alluxio keeps below. */
    private void assertHolds(String name, byte[]... pieces) throws IOException {
        byte[] expected = join(pieces);
        assertThat(Files.readAllBytes(mount.resolve(name))).isEqualTo(expected);
        assertThat(own.stored(name)).isEqualTo(expected);
    }

    private static void write(FileChannel channel, long at, byte[] bytes) throws IOException {
        assertThat(channel.write(ByteBuffer.wrap(bytes), at)).isEqualTo(bytes.length);
    }

    private static byte[] read(FileChannel channel, long at, int count) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(count);
        while (buffer.hasRemaining() && channel.read(buffer, at + buffer.position()) > 0) {
            // There is more.
        }
        return java.util.Arrays.copyOf(buffer.array(), buffer.position());
    }

    private static byte[] join(byte[]... pieces) {
        ByteBuffer all = ByteBuffer.allocate(
                Stream.of(pieces).mapToInt(piece -> piece.length).sum());
        Stream.of(pieces).forEach(all::put);
        return all.array();
    }

    private static byte[] piece(int number) {
        return java.util.Arrays.copyOf(content(number), 1000);
    }

    private static byte[] content(int seed) {
        byte[] content = new byte[BYTES];
        new Random(seed).nextBytes(content);
        return content;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @AfterAll
    void cleanUp() throws Exception {
        for (FileChannel channel : open) {
            try {
                channel.close();
            } catch (IOException e) {
                System.out.println("closing: " + e);
            }
        }
        if (flockHolder != null) {
            flockHolder.destroyForcibly();
        }
        if (node != null) {
            node.close();
        }
    }
}
