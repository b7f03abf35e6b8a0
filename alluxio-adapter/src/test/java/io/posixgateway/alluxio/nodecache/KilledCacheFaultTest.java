package io.posixgateway.alluxio.nodecache;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.fuse.time.Clock;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process is killed while it fills and evicts: the next one reads nothing torn, and knows all files that are there. */
class KilledCacheFaultTest {
    /** Each is killed a step later than the one before. */
    private static final int KILLS = Integer.getInteger("pgw.kills", 8);
    /** In each process; by then the second one evicts. */
    private static final int STEPS = 150;

    @TempDir(factory = TmpfsFolder.class)
    private Path above = Path.of("");

    private static void fillUntilKilled(Path folder, int seed) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.library.path=" + System.getProperty("java.library.path"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        FillingProcess.class.getName(),
                        folder.toString(),
                        String.valueOf(seed))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader lines = process.inputReader()) {
            for (int i = 0; i < STEPS + seed; i++) {
                assertThat(lines.readLine()).isNotNull();
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static int checkAll(NodeCache cache) throws IOException {
        int found = 0;
        for (int number = 1; number <= FillingProcess.FILES; number++) {
            CacheKey file = FillingProcess.file(number);
            for (int index = 0; index < file.pieces(); index++) {
                Piece piece = cache.pin(file, index);
                if (piece != null) {
                    found += isWhole(cache, piece) ? 1 : 0;
                    cache.unpin(piece);
                }
            }
        }
        return found;
    }

    private static boolean isWhole(NodeCache cache, Piece piece) throws IOException {
        try (FolderDisk.Opened opened = cache.open(piece)) {
            if (opened == null) {
                return false;
            }
            ByteBuffer into = ByteBuffer.allocate(piece.bytes() + 1);
            opened.read(0, into);
            assertThat(Arrays.copyOf(into.array(), into.position()))
                    .isEqualTo(FillingProcess.content(piece.file, piece.index));
            return true;
        }
    }

    private static long files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).count();
        }
    }

    @Test
    void killedProcess_leavesWholePiecesAlone() throws Exception {
        Path folder = above.resolve("cache");
        for (int kill = 0; kill < KILLS; kill++) {
            fillUntilKilled(folder, kill);
            try (CacheFolders.Shared next =
                    new CacheFolders(Clock.system()).open(folder, FillingProcess.ROOM_BYTES, false)) {
                assertThat(next.isReady(false)).isTrue();
                int whole = checkAll(next.cache());
                assertThat(whole).isPositive().isEqualTo(next.cache().size());
                assertThat(next.cache().bytes()).isLessThanOrEqualTo(FillingProcess.ROOM_BYTES);
                assertThat(files(folder.resolve("pieces"))).isEqualTo(whole);
            }
        }
    }
}
