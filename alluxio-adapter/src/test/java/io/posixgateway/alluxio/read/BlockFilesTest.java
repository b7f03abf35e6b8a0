package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.spi.Kernel;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockFilesTest {
    @TempDir
    private Path folder = Path.of("");

    private BlockFiles holding(int most, int blocks) throws IOException {
        BlockFiles files = new BlockFiles(most);
        files.learn(folder);
        for (int i = 1; i <= blocks; i++) {
            Files.writeString(folder.resolve(Integer.toString(i)), "block " + i);
            open(files, i).give();
        }
        return files;
    }

    private static BlockFile open(BlockFiles files, long blockId) {
        BlockFile file = files.take(blockId);
        if (file == null) {
            throw new AssertionError("block " + blockId + " is not found");
        }
        return file;
    }

    @Test
    void noMoreAreKeptThanAllowed() throws IOException {
        assertThat(holding(3, 10).size()).isEqualTo(3);
    }

    /** Their memory would stay taken in the worker's tmpfs. */
    @Test
    void evictedBlocksAreLetGoUnlessTheyAreRead() throws IOException {
        BlockFiles files = holding(100, 6);
        BlockFile read = open(files, 1);
        for (int i = 1; i <= 6; i++) {
            Files.delete(folder.resolve(Integer.toString(i)));
        }
        for (int i = 7; i <= 9; i++) {
            Files.writeString(folder.resolve(Integer.toString(i)), "block " + i);
            open(files, i).give();
        }
        assertThat(files.size()).isEqualTo(3);
        ByteBuffer content = ByteBuffer.allocate(7);
        assertThat(read.read(0, content)).isEqualTo(7);
        assertThat(content.array()).isEqualTo("block 1".getBytes(StandardCharsets.US_ASCII));
        read.give();
    }

    /** A program that reads what it has open, and opens nothing, holds no memory of the worker's either. */
    @Test
    void evictedBlocksAreLetGoThoughNothingIsOpened() throws IOException {
        BlockFiles files = holding(100, 20);
        for (int i = 1; i <= 15; i++) {
            Files.delete(folder.resolve(Integer.toString(i)));
        }
        files.dropEvicted();
        assertThat(files.size()).isEqualTo(5);
        open(files, 20).give();
    }

    private static String content(BlockFile file) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(100);
        file.read(0, content);
        file.give();
        return new String(content.array(), 0, content.position(), StandardCharsets.US_ASCII);
    }

    @Test
    void block_whoseFileIsReplacedByAnother_isOpenedAnew() throws IOException {
        BlockFiles files = holding(100, 1);
        Path block = folder.resolve("1");
        Files.delete(block);
        Files.writeString(block, "another");
        files.dropEvicted();
        assertThat(content(open(files, 1))).isEqualTo("another");
    }

    @Test
    void block_ofAnotherAlluxio_isOpenedAnew_alsoWhereItIsPinned() throws IOException {
        BlockFiles files = holding(100, 1);
        BlockFiles.Pin pin = files.pin(new FileReader.Extent(0, 7, 7, 0));
        files.forgetAll();
        Path block = folder.resolve("1");
        Files.delete(block);
        Files.writeString(block, "another");
        assertThat(content(open(files, 1))).isEqualTo("another");
        if (pin != null) {
            pin.close();
        }
        assertThat(content(open(files, 1))).isEqualTo("another");
    }

    @Test
    void backing_ofABlockThatWasReplaced_isTheOneThatIsOpen() throws IOException {
        List<Long> given = new ArrayList<>();
        Kernel kernel = (Kernel) Proxy.newProxyInstance(
                Kernel.class.getClassLoader(), new Class<?>[] {Kernel.class}, (proxy, method, args) -> {
                    try (FileInputStream file = new FileInputStream((FileDescriptor) args[0])) {
                        given.add(file.getChannel().size());
                    }
                    return 7;
                });
        BlockFiles files = holding(100, 1);
        files.backedBy(new BackingFiles(kernel, Passthrough.Notes.NONE));
        BlockFile file = open(files, 1);
        Path other = Files.writeString(folder.resolve("new"), "another block");
        Files.move(other, folder.resolve("1"), StandardCopyOption.REPLACE_EXISTING);
        assertThat(files.backingOf(file, 7)).isEqualTo(7);
        assertThat(given).containsExactly(7L);
    }

    @Test
    void block_isNotOpened_whereItsNumberMayBeAnothers() throws IOException {
        BlockFiles files = new BlockFiles(100, TrustedFolders.anywhere(), () -> false);
        files.learn(folder);
        Files.writeString(folder.resolve("1"), "block 1");
        assertThat(files.take(1)).isNull();
    }

    @Test
    void whereBlocksAreThatAreInNoKnownFolderIsAsked(@TempDir Path other) throws Exception {
        BlockFiles files = holding(100, 1);
        Files.writeString(other.resolve("2"), "block 2");
        assertThat(files.take(2)).isNull();
        assertThat(files.take(3)).isNull();
        List<Long> asked = new ArrayList<>();
        UnlocatedBlocks.Workers workers = blockId -> {
            asked.add(blockId);
            return Files.exists(other.resolve(Long.toString(blockId))) ? other : null;
        };
        files.learnMissed(workers);
        assertThat(asked).containsExactlyInAnyOrder(2L, 3L);
        assertThat(files.folders()).extracting(BlockFolder::path).containsExactly(folder, other);
        open(files, 2).give();
        files.learnMissed(workers);
        assertThat(asked).hasSize(2);
    }

    /** Else the worker deletes as unused what is read in every epoch. */
    @Test
    void whatWasReadIsToldThoughItIsClosedByNow() throws IOException {
        BlockFiles files = holding(5, 20);
        assertThat(files.size()).isEqualTo(5);
        assertThat(files.takeUsed())
                .containsExactlyInAnyOrderElementsOf(
                        LongStream.rangeClosed(1, 20).boxed().toList());
        assertThat(files.takeUsed()).isEmpty();
    }

    @Test
    void whatIsReadFromThePageCacheIsToldIfItIsHere() throws IOException {
        BlockFiles files = holding(5, 0);
        long first = 7L << 24;
        Files.writeString(folder.resolve(Long.toString(first)), "ten bytes.");
        Files.writeString(folder.resolve(Long.toString(first + 1)), "and more");
        files.used(new FileReader.Extent(first, 18, 10, 0));
        files.used(new FileReader.Extent(8L << 24, 10, 10, 0));
        assertThat(files.takeUsed()).containsExactlyInAnyOrder(first, first + 1);
        assertThat(files.opened()).isZero();
    }

    private BlockFiles trusting(String folders) {
        BlockFiles files = new BlockFiles(5, TrustedFolders.of(folders), () -> true);
        files.learn(folder);
        return files;
    }

    @Test
    void take_folderNobodyNamed_findsNothing(@TempDir Path other) throws IOException {
        Files.writeString(folder.resolve("1"), "block 1");
        assertThat(trusting(TrustedFolders.NONE).take(1)).isNull();
        assertThat(trusting(other.toString()).take(1)).isNull();
        assertThat(trusting(folder + "-b").take(1)).isNull();
        open(trusting(other + ":" + folder.getParent()), 1).give();
    }

    @Test
    void learn_pathThatLeavesTheNamedFolder_findsNothing(@TempDir Path other) throws IOException {
        Files.writeString(other.resolve("1"), "another's");
        BlockFiles files = new BlockFiles(5, TrustedFolders.of(folder.toString()), () -> true);
        files.learn(folder.resolve("..").resolve(other.getFileName()));
        Files.createSymbolicLink(folder.resolve("link"), other);
        files.learn(folder.resolve("link"));
        files.learn(Path.of("relative"));
        assertThat(files.take(1)).isNull();
    }

    /** Whose numbers are those of blocks, and whose files are those of all volumes of the process. */
    @Test
    void take_descriptorsOfThisProcess_areNoBlocks() throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "another volume's");
        BlockFiles files = new BlockFiles(1000);
        files.learn(Path.of("/proc/self/fd"));
        try (FileChannel open = FileChannel.open(secret)) {
            assertThat(open.isOpen()).isTrue();
            for (int fd = 0; fd < 1000; fd++) {
                assertThat(files.take(fd)).isNull();
            }
        }
    }

    @Test
    void take_linkInThePlaceOfABlock_isNotFollowed(@TempDir Path other) throws IOException {
        Path secret = Files.writeString(other.resolve("secret"), "another's");
        Files.createSymbolicLink(folder.resolve("1"), secret);
        BlockFiles files = new BlockFiles(5);
        files.learn(folder);
        assertThat(files.take(1)).isNull();
    }
}
