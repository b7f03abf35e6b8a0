package io.posixgateway.fuse.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.conformance.Trees;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** Many files, big files, many readers: all with checksums, on the memory file system. */
class FilesIT {
    private static final int SMALL_FILES = 10_000;
    private static final int PIECE_BYTES = 1 << 20;
    private static final long SEED = Long.getLong("pgw.seed", System.nanoTime());

    private final MemoryFileSystem memory = new MemoryFileSystem(700L << 20);

    @EachTransport
    void aCopiedTreeIsTheSameTree(TransportChoice transport, @TempDir Path local) throws Exception {
        Trees.makeWithHardLinks(local.resolve("tree"), SEED);
        try (MountedFileSystem mounted = MountedFileSystem.mount(memory, transport)) {
            Path copy = mounted.root().resolve("tree");
            Command.run(120, "cp", "-a", local.resolve("tree").toString(), copy.toString());
            assertThat(Trees.describe(copy)).isEqualTo(Trees.describe(local.resolve("tree")));
            Path back = local.resolve("back");
            Command.run(120, "cp", "-a", copy.toString(), back.toString());
            assertThat(Trees.describe(back)).isEqualTo(Trees.describe(local.resolve("tree")));
        }
    }

    @EachTransport
    void tenThousandSmallFilesAreMadeListedReadAndRemoved(TransportChoice transport) throws Exception {
        try (MountedFileSystem mounted = MountedFileSystem.mount(memory, transport)) {
            Path folder = Files.createDirectory(mounted.root().resolve("small"));
            inParallel(4, i -> () -> {
                for (int k = i; k < SMALL_FILES; k += 4) {
                    Files.writeString(folder.resolve("file" + k), "content of " + k);
                }
                return i;
            });
            try (Stream<Path> listed = Files.list(folder)) {
                assertThat(listed.map(path -> path.getFileName().toString()).distinct())
                        .hasSize(SMALL_FILES);
            }
            inParallel(4, i -> () -> {
                for (int k = i; k < SMALL_FILES; k += 4) {
                    assertThat(Files.readString(folder.resolve("file" + k))).isEqualTo("content of " + k);
                    Files.delete(folder.resolve("file" + k));
                }
                return i;
            });
            Files.delete(folder);
            Eventually.holds(
                    "the last closes are answered",
                    () -> mounted.session().metrics().inFlight() < 5);
        }
    }

    @EachTransport
    void aBigFileKeepsEveryByte(TransportChoice transport) throws Exception {
        try (MountedFileSystem mounted = MountedFileSystem.mount(memory, transport)) {
            Path big = mounted.root().resolve("big");
            int pieces = 192;
            try (FileChannel channel = FileChannel.open(big, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                for (int i = 0; i < pieces; i++) {
                    channel.write(piece(i), (long) i * PIECE_BYTES);
                }
                channel.write(piece(pieces), 1L << 30);
            }
            try (FileChannel channel = FileChannel.open(big)) {
                assertThat(channel.size()).isEqualTo((1L << 30) + PIECE_BYTES);
                for (int i = 0; i < pieces; i++) {
                    assertThat(read(channel, (long) i * PIECE_BYTES))
                            .as("piece %d", i)
                            .isEqualTo(piece(i));
                }
                assertThat(read(channel, 1L << 30)).isEqualTo(piece(pieces));
                assertThat(read(channel, 1L << 29)).isEqualTo(ByteBuffer.allocate(PIECE_BYTES));
            }
            Files.delete(big);
        }
    }

    private static ByteBuffer piece(int number) {
        byte[] bytes = new byte[PIECE_BYTES];
        new Random(SEED + number).nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    private static ByteBuffer read(FileChannel channel, long at) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(PIECE_BYTES);
        int count = 0;
        while (count >= 0 && bytes.hasRemaining()) {
            count = channel.read(bytes, at + bytes.position());
        }
        return bytes.flip();
    }

    @EachTransport
    void manyReadersOfOneHandleAndOfManyFilesAgree(TransportChoice transport) throws Exception {
        try (MountedFileSystem mounted = MountedFileSystem.mount(memory, transport)) {
            byte[] content = new byte[4 << 20];
            new Random(SEED).nextBytes(content);
            Path shared = Files.write(mounted.root().resolve("shared"), content);
            try (FileChannel channel = FileChannel.open(shared)) {
                inParallel(32, i -> () -> {
                    Random random = new Random(SEED + i);
                    ByteBuffer part = ByteBuffer.allocate(10_000);
                    for (int k = 0; k < 50; k++) {
                        int at = random.nextInt(content.length - part.capacity());
                        channel.read(part.clear(), at);
                        assertThat(part.flip())
                                .isEqualTo(ByteBuffer.wrap(content, at, part.limit())
                                        .slice());
                    }
                    return i;
                });
            }
            inParallel(32, i -> () -> {
                Path own = mounted.root().resolve("own" + i);
                byte[] mine = Arrays.copyOfRange(content, i * 100_000, i * 100_000 + 90_000);
                Files.write(own, mine);
                for (int k = 0; k < 5; k++) {
                    assertThat(Files.readAllBytes(own)).isEqualTo(mine);
                }
                return i;
            });
        }
    }

    @EachTransport
    void fioFindsEveryBlockAsItWroteIt(TransportChoice transport) throws Exception {
        assumeTrue(Command.exists("fio"), "fio is not installed");
        try (MountedFileSystem mounted = MountedFileSystem.mount(memory, transport)) {
            Command.run(
                    120,
                    "fio",
                    "--name=verify",
                    "--directory=" + mounted.root(),
                    "--rw=randwrite",
                    "--bsrange=4k-256k",
                    "--size=16m",
                    "--numjobs=4",
                    "--verify=crc32c",
                    "--do_verify=1",
                    "--verify_fatal=1",
                    "--ioengine=psync",
                    "--verify_state_save=0",
                    "--direct=1");
        }
    }

    @EachTransport
    void aFullFileSystemSaysSoAndGoesOn(TransportChoice transport) throws Exception {
        MemoryFileSystem small = new MemoryFileSystem(4 << 20);
        try (MountedFileSystem mounted = MountedFileSystem.mount(small, transport);
                RandomAccessFile file =
                        new RandomAccessFile(mounted.root().resolve("f").toFile(), "rw")) {
            byte[] piece = new byte[1 << 20];
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 8; i++) {
                            file.write(piece);
                        }
                    })
                    .hasMessageContaining("No space left");
            file.setLength(0);
            file.seek(0);
            file.write(piece);
            assertThat(file.length()).isEqualTo(piece.length);
        }
    }

    /** Some work, by its number. */
    @FunctionalInterface
    private interface Work {
        Callable<Integer> number(int i);
    }

    private static void inParallel(int threads, Work work) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Integer>> done = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                done.add(pool.submit(work.number(i)));
            }
            for (Future<Integer> one : done) {
                one.get();
            }
        } finally {
            pool.shutdownNow();
        }
    }
}
