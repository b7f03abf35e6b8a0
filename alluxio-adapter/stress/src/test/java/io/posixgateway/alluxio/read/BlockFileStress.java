package io.posixgateway.alluxio.read;

import io.posixgateway.fuse.spi.Features;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * {@link BlockFile} and {@link BlockFiles}: whoever acquired a block file reads an open one; it is closed when the last one
 * releases it, and then its backing id is given back; the kernel is given each file once.
 */
public final class BlockFileStress {
    private static final Path FOLDER = folder();

    private BlockFileStress() {}

    /** Two blocks, 1 and 2, a byte each. */
    private static Path folder() {
        try {
            Path folder = Files.createTempDirectory("blocks");
            folder.toFile().deleteOnExit(); // after its files: the last one registered goes first
            for (int block = 1; block <= 2; block++) {
                Path file = Files.write(folder.resolve(Integer.toString(block)), new byte[] {(byte) block});
                file.toFile().deleteOnExit();
            }
            return folder;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static BlockFile open() {
        try {
            return BlockFile.open(new BlockFolder(FOLDER, FOLDER), 1);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The byte that is read; -2: it is closed. */
    private static int read(BlockFile file) {
        try {
            ByteBuffer into = ByteBuffer.allocate(1);
            file.read(0, into);
            return into.get(0);
        } catch (IOException e) {
            return -2;
        }
    }

    /** The cache evicts the file while a reader acquires it. */
    @JCStressTest
    @Outcome(id = "-1, -2", expect = Expect.ACCEPTABLE, desc = "Closed before: the reader gets nothing.")
    @Outcome(id = "1, -2", expect = Expect.ACCEPTABLE, desc = "Acquired, open, closed by the last one.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Closed under the reader, or never.")
    @State
    public static class AcquireWhileReleased {
        private final BlockFile file = open();

        @Actor
        public void evict() {
            file.give();
        }

        @Actor
        public void read(II_Result r) {
            r.r1 = -1;
            if (file.take()) {
                r.r1 = BlockFileStress.read(file);
                file.give();
            }
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = BlockFileStress.read(file);
        }
    }

    /** Two opens are answered with the file, each by a user of it. */
    @JCStressTest
    @Outcome(id = "1, 1, 1, 1", expect = Expect.ACCEPTABLE, desc = "Given to the kernel once, and taken back once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Given twice, or not taken back.")
    @State
    public static class BackingOnce {
        private final BlockFile file = open();
        private final CountingKernel kernel = new CountingKernel();
        private final BackingFiles backingFiles = new BackingFiles(kernel, Passthrough.Notes.NONE);

        public BackingOnce() {
            file.take();
        }

        @Actor
        public void one(IIII_Result r) {
            r.r1 = file.backing(backingFiles);
            file.give();
        }

        @Actor
        public void other(IIII_Result r) {
            r.r2 = file.backing(backingFiles);
            file.give();
        }

        @Arbiter
        public void end(IIII_Result r) {
            r.r3 = kernel.opened.get();
            r.r4 = kernel.closed.get();
        }
    }

    /** Two read different blocks where only one may stay open. */
    @JCStressTest
    @Outcome(id = "1, 2, 0", expect = Expect.ACCEPTABLE, desc = "Both read what they asked for.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A block was closed under its reader, or stays open.")
    @State
    public static class ReadWhileEvicted {
        private final BlockFiles blocks = new BlockFiles(1);

        public ReadWhileEvicted() {
            blocks.learn(FOLDER);
        }

        @Actor
        public void one(III_Result r) {
            r.r1 = readBlock(1);
        }

        @Actor
        public void two(III_Result r) {
            r.r2 = readBlock(2);
        }

        private int readBlock(long block) {
            BlockFile file = blocks.take(block);
            if (file == null) {
                return -1;
            }
            int found = BlockFileStress.read(file);
            file.give();
            return found;
        }

        @Arbiter
        public void end(III_Result r) {
            blocks.close();
            r.r3 = blocks.size();
        }
    }

    /** Counts the files that it was given. */
    private static final class CountingKernel implements Kernel {
        final AtomicInteger opened = new AtomicInteger();
        final AtomicInteger closed = new AtomicInteger();

        @Override
        public int openBacking(FileDescriptor file) {
            return opened.incrementAndGet();
        }

        @Override
        public int closeBacking(int backingId) {
            return closed.incrementAndGet();
        }

        @Override
        public Features features() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int invalidateInode(long node, long offset, long lengthBytes) {
            return 0;
        }

        @Override
        public int store(long node, long offset, ByteBuffer bytes) {
            return 0;
        }

        @Override
        public int invalidateEntry(long parent, Name name) {
            return 0;
        }

        @Override
        public Batch batch() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int notifyDelete(long parent, long child, Name name) {
            return 0;
        }
    }
}
