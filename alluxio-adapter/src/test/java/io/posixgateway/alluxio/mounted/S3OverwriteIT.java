package io.posixgateway.alluxio.mounted;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.S3Server;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.QuietTime;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A mount with {@code replace=in-place} of a real Alluxio on a bucket of a real S3 server. Of the long form, as it counts all requests
 * of the server.
 */
@EnabledIfSystemProperty(named = "pgw.under.store", matches = "s3", disabledReason = "of the long form: make s3-test")
class S3OverwriteIT extends OnUnderStore {
    /** Uploaded in parts. */
    private static final int LARGE_BYTES = 12 << 20;

    private static final int REPLACEMENTS = 40;
    /** Contents differ in length, and in all bytes. */
    private static final int BYTES = 1000;

    private static final int MODE = 0640;
    /** As {@link OnUnderStore#note} stores it. */
    private static final String NOTE = "user.user.note";

    /** What Alluxio gives what it loads from the store. */
    private static final int LOADED_MODE = 0700;

    private static final Duration MODE_LIMIT = Duration.ofMillis(10);

    @TempDir
    private Path spool = Path.of("");

    @Override
    EmbeddedAlluxio cluster() throws Exception {
        return Clusters.onS3();
    }

    @Override
    AlluxioFileSystem open(AlluxioOptions place) throws Exception {
        return inPlace(place, spool, Map.of());
    }

    /** A mount that would outlive its process. */
    static AlluxioFileSystem inPlace(AlluxioOptions place, Path spool, Map<String, String> options) throws Exception {
        Map<String, String> all = new HashMap<>(options);
        all.put("replace", "in-place");
        all.put("spool", spool.toString());
        AlluxioFileSystem opened =
                AlluxioMount.openPersistent(place, SharedAlluxio.options(all), new AlluxioMount.Opening(null, false));
        opened.resume(false);
        return opened;
    }

    private S3Server bucket() {
        return Objects.requireNonNull(alluxio.s3());
    }

    private Path file(String name, byte[] content) throws IOException {
        Path file = Files.write(root.resolve(name), content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        note(file, "stays");
        return file;
    }

    private static byte[] content(int number) {
        byte[] content = new byte[BYTES + number];
        Arrays.fill(content, (byte) ('A' + number));
        return content;
    }

    /** Copies and deletions that the bucket was asked for so far. */
    private long movesInBucket() throws IOException {
        Map<String, Long> requests = bucket().requests();
        return requests.getOrDefault("COPY", 0L) + requests.getOrDefault("DELETE", 0L);
    }

    private static Map<String, Object> kept(Path file) throws IOException {
        return Files.readAttributes(file, "unix:ino,mode,uid,gid");
    }

    private void assertIs(String name, byte[] content, Map<String, Object> kept) throws Exception {
        assertThat(bucket().get(folder + "/" + name)).isEqualTo(content);
        FileStatus synced = other.compared("/" + folder + "/" + name);
        assertThat(synced.mode()).isEqualTo(MODE);
        assertThat(synced.lengthBytes()).isEqualTo(content.length);
        Path file = root.resolve(name);
        assertThat(file).hasBinaryContent(content);
        assertThat(kept(file)).isEqualTo(kept);
        assertThat(noteOf(file)).isEqualTo("stays");
    }

    @Test
    void a_file_is_replaced_appended_to_and_cut_where_it_is_and_keeps_its_attributes() throws Exception {
        Path file = file("f", content(0));
        Map<String, Object> kept = kept(file);
        long before = movesInBucket();
        Files.write(file, content(1));
        assertIs("f", content(1), kept);
        Files.writeString(file, " and more", StandardOpenOption.APPEND);
        assertIs("f", (new String(content(1), UTF_8) + " and more").getBytes(UTF_8), kept);
        Files.writeString(file, "", StandardOpenOption.TRUNCATE_EXISTING);
        assertIs("f", new byte[0], kept);
        Files.write(file, new byte[LARGE_BYTES]);
        assertIs("f", new byte[LARGE_BYTES], kept);
        Files.writeString(file, "behind", StandardOpenOption.APPEND);
        assertIs("f", Arrays.copyOf(bytesAt("behind", LARGE_BYTES), LARGE_BYTES + "behind".length()), kept);
        assertThat(movesInBucket() - before).as("COPY and DELETE").isZero();
        assertThat(bucket().names(folder)).containsExactly("f");
    }

    private static byte[] bytesAt(String text, int offset) {
        byte[] all = new byte[offset + text.length()];
        System.arraycopy(text.getBytes(UTF_8), 0, all, offset, text.length());
        return all;
    }

    @Test
    void an_object_of_another_client_is_replaced_where_it_is() throws Exception {
        bucket().put(folder + "/put", content(0));
        Path file = root.resolve("put");
        assertThat(file).hasBinaryContent(content(0));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        note(file, "stays");
        Map<String, Object> kept = kept(file);
        long before = movesInBucket();
        Files.write(file, content(1));
        assertIs("put", content(1), kept);
        assertThat(movesInBucket() - before).as("COPY and DELETE").isZero();
    }

    /** Others look at it all the time, by what Alluxio knows, after it compared that with the store, and in the bucket itself. */
    @Test
    void others_see_the_old_file_or_the_new_while_it_is_replaced() throws Exception {
        Path file = file("f", content(0));
        Look byStatus = new Look();
        Look byComparing = new Look();
        Look inBucket = new Look();
        List<Look> looks = List.of(byStatus, byComparing, inBucket);
        byStatus.start(() -> byStatus.at(other.status("/" + folder + "/f")));
        byComparing.start(() -> byComparing.at(other.compared("/" + folder + "/f")));
        inBucket.start(() -> inBucket.at(bucket().get(folder + "/f")));
        try {
            for (int i = 1; i < REPLACEMENTS; i++) {
                Files.write(file, content(i));
                for (Look look : looks) {
                    look.awaitOne();
                }
            }
        } finally {
            looks.forEach(Look::stop);
        }
        for (Look look : looks) {
            look.end();
        }
        List<Duration> spans = new ArrayList<>(byStatus.spans);
        spans.addAll(byComparing.spans);
        System.out.printf(
                "looks: %d, %d, %d; mode 0700 was seen for %s%n",
                byStatus.times, byComparing.times, inBucket.times, spans);
        assertThat(spans).allSatisfy(span -> assertThat(span).isLessThanOrEqualTo(MODE_LIMIT));
        assertThat(file).hasBinaryContent(content(REPLACEMENTS - 1));
    }

    /** Looks again and again, in a thread. What is seen goes from older contents to newer ones. */
    private final class Look {
        private volatile boolean stopped;
        private volatile int times;
        private int newest;
        /** How long each stretch was seen to last, at least, in which the file had the mode of what Alluxio loads. */
        private final List<Duration> spans = new ArrayList<>();

        private @Nullable QuietTime since;
        private Duration last = Duration.ZERO;

        private FutureTask<Void> task = new FutureTask<>(() -> null);

        private interface Once {
            void run() throws Exception;
        }

        @SuppressWarnings("NonAtomicVolatileUpdate") // by one thread
        void start(Once once) {
            Callable<Void> all = () -> {
                while (!stopped) {
                    once.run();
                    times++;
                }
                return null;
            };
            task = new FutureTask<>(all);
            Thread thread = new Thread(task, "look");
            thread.setDaemon(true);
            thread.start();
        }

        /** The next look that begins is over, or all are. */
        void awaitOne() throws Exception {
            int before = times;
            Eventually.holds("another look", () -> times > before + 1 || task.isDone());
        }

        void stop() {
            stopped = true;
        }

        void end() throws Exception {
            task.get(60, TimeUnit.SECONDS);
        }

        private void at(FileStatus there) throws StoreException {
            int number = (int) there.lengthBytes() - BYTES;
            assertThat(there.complete()).isTrue();
            assertThat(number).as("which content").isBetween(newest, REPLACEMENTS - 1);
            boolean isLoaded = there.mode() == LOADED_MODE && number > 0;
            assertThat(isLoaded || there.mode() == MODE)
                    .as("mode %o", there.mode())
                    .isTrue();
            assertThat(there.xattrs().containsKey(NOTE)).isEqualTo(!isLoaded);
            time(isLoaded);
            newest = number;
            byte[] read = read(there);
            if (read.length > 0) {
                assertThat(read).isEqualTo(content(number));
            }
        }

        /** Nothing: it was replaced since. */
        private byte[] read(FileStatus there) throws StoreException {
            ByteBuffer into = ByteBuffer.allocate(BYTES + REPLACEMENTS);
            try (StoreReader reader = other.open("/" + folder + "/f", there.id())) {
                reader.read(0, into);
                return Arrays.copyOf(into.array(), into.position());
            } catch (StoreException e) {
                assertThat(e.errno()).as(e.getMessage()).isEqualTo(Errno.ESTALE);
                return new byte[0];
            }
        }

        private void time(boolean isLoaded) {
            if (isLoaded) {
                since = since == null ? QuietTime.sinceNow() : since;
                last = since.quiet();
            } else if (since != null) {
                spans.add(last);
                since = null;
            }
        }

        private void at(byte @Nullable [] object) {
            if (object == null) {
                throw new AssertionError("the object is not there");
            }
            int number = object.length - BYTES;
            assertThat(number).isBetween(newest, REPLACEMENTS - 1);
            assertThat(object).isEqualTo(content(number));
            newest = number;
        }
    }
}
