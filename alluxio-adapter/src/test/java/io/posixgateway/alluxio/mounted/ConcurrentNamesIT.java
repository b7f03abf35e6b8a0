package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Names are taken away while files of those names, or below them, are being committed, on the real Alluxio and kernel. Each
 * interleaving that is known is in {@code RenameConcurrencyTest}.
 */
class ConcurrentNamesIT {
    private static final int THREADS = 6;
    private static final int ROUNDS = 25;
    private static final int FILES = 12;
    private static final int BYTES = 50_000;
    private static final String INSIDE = """
            import os, sys
            os.chdir(sys.argv[1])
            open('inside', 'w').close()
            looks = 0
            while looks < 100 or not os.path.exists(sys.argv[2]):
                looks += 1
                assert os.stat('known').st_size == 5
                os.listdir('.')
            """;
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private static List<Path> in(Path directory) throws Exception {
        try (Stream<Path> all = Files.list(directory)) {
            return all.toList();
        }
    }

    /** The last close is heard of after close returned: when the file may be gone, or have another name. */
    @Test
    void aNameThatIsTakenAwayRightAfterTheCloseDoesNotComeBack() throws Exception {
        String folder = SharedAlluxio.folder();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (MountedFileSystem mounted = MountedFileSystem.mount(
                SharedAlluxio.open(folder, Map.of("metadata_ttl", "1h")), TransportChoice.AUTO)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Path file = mounted.root().resolve("file-" + i);
                Path moved = mounted.root().resolve("moved-" + i);
                boolean writes = i % 2 == 0;
                all.add(threads.submit(() -> {
                    for (int round = 0; round < ROUNDS; round++) {
                        Files.write(file, new byte[writes ? round : 0], StandardOpenOption.CREATE_NEW);
                        if (round % 3 == 0) {
                            Files.move(file, moved);
                            Files.delete(moved);
                        } else {
                            Files.delete(file);
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
            assertThat(in(mounted.root())).isEmpty();
        } finally {
            threads.shutdown();
        }
        assertThat(in(SharedAlluxio.ufs(folder))).isEmpty();
    }

    /** While workers write, the directory they write to gets another name again and again, and somebody stands in it. */
    @Test
    void aDirectoryThatIsRenamedWhileItsFilesAreWrittenIsOne(@TempDir Path local) throws Exception {
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem mounted = MountedFileSystem.mount(
                SharedAlluxio.open(folder, Map.of("metadata_ttl", "10ms")), TransportChoice.AUTO)) {
            Path inner =
                    Files.createDirectories(mounted.root().resolve("outer-0").resolve("inner"));
            Files.writeString(inner.resolve("known"), "known");
            Path at = renameWhile(mounted.root(), writing(inner), local.resolve("written"));
            assertThat(in(at.resolve("inner"))).hasSize(FILES + 2);
            Path below = SharedAlluxio.ufs(folder);
            assertThat(in(below)).containsExactly(below.resolve(at.getFileName()));
            for (int i = 0; i < FILES; i++) {
                byte[] wanted = new byte[BYTES];
                Arrays.fill(wanted, (byte) i);
                assertThat(below.resolve(at.getFileName()).resolve("inner").resolve("file-" + i))
                        .hasBinaryContent(wanted);
            }
        }
    }

    /** Writes through handles that were opened before, each committing by itself. */
    private static List<FileChannel> writing(Path inner) throws Exception {
        List<FileChannel> channels = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            channels.add(FileChannel.open(
                    inner.resolve("file-" + i), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
        }
        return channels;
    }

    private static List<FileChannel> write(List<FileChannel> channels) throws Exception {
        for (int i = 0; i < channels.size(); i++) {
            byte[] content = new byte[BYTES];
            Arrays.fill(content, (byte) i);
            channels.get(i).write(ByteBuffer.wrap(content));
            channels.get(i).force(true);
            channels.get(i).close();
        }
        return channels;
    }

    /** @param done is made when all is written */
    private static Path renameWhile(Path root, List<FileChannel> channels, Path done) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (Command inside = new Command(
                "python3",
                "-c",
                INSIDE,
                root.resolve("outer-0").resolve("inner").toString(),
                done.toString())) {
            Path inner = root.resolve("outer-0").resolve("inner");
            Waiting.until("somebody is inside", LIMIT, () -> Files.exists(inner.resolve("inside")));
            Future<Integer> renamed = threads.submit(() -> {
                int moves = 0;
                for (; !over.get(); moves++) {
                    Files.move(root.resolve("outer-" + moves), root.resolve("outer-" + (moves + 1)));
                }
                return moves;
            });
            Future<?> written = threads.submit(() -> write(channels));
            written.get();
            Files.createFile(done);
            assertThat(inside.await((int) LIMIT.toSeconds()))
                    .as(inside.output())
                    .isZero();
            over.set(true);
            return root.resolve("outer-" + renamed.get());
        } finally {
            over.set(true);
            threads.shutdown();
        }
    }
}
