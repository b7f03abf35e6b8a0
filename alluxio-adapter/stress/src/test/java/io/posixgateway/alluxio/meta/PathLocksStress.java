package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** {@link PathLocks}: nothing stays below a directory that moves, and a reader's path is of now or known to be of yesterday. */
public final class PathLocksStress {
    private PathLocksStress() {}

    /** A directory, a file in it, and what Alluxio has of both. */
    private static final class Tree {
        final InodeTable table =
                new InodeTable("/", 1, 100, new MemoryAccounting(1L << 40), NameCodec.ESCAPED, Clock.system());
        final PathLocks pathLocks = new PathLocks(table, Clock.system());
        final Inode directory = table.of(2L << 24, true);
        final Inode file = table.of(3L << 24, false);
        volatile String path = "/a/f";

        Tree() {
            table.lookedUp(directory);
            table.lookedUp(file);
            table.attach(table.root(), Name.of("a"), directory, 1);
            table.attach(directory, Name.of("f"), file, 1);
        }

        void rename() {
            quietly(() -> pathLocks.exclusive(directory, () -> {
                path = "/b/f";
                table.attach(table.root(), Name.of("b"), directory, 2);
                return 0;
            }));
        }
    }

    private static int quietly(PathLocks.Work<Integer> work) {
        try {
            return work.run();
        } catch (StoreException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A file is written by its path while the directory above is renamed. */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "The path was right from the beginning to the end.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The file moved away meanwhile.")
    @State
    public static class SharedWhileMoved {
        private final Tree tree = new Tree();

        @Actor
        public void move() {
            tree.rename();
        }

        @Actor
        public void stay(I_Result r) {
            r.r1 = quietly(() -> tree.pathLocks.shared(tree.file, () -> {
                String path = tree.table.path(tree.file);
                return tree.path.equals(path) && tree.path.equals(path) ? 1 : 0;
            }));
        }
    }

    /** A file is asked for by its path while the directory above is renamed. */
    @JCStressTest
    @Outcome(
            id = {"1", "2"},
            expect = Expect.ACCEPTABLE,
            desc = "The answer was about the file, or is asked for again.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "An answer about a path of yesterday was believed.")
    @State
    public static class AskWhileMoved {
        private final Tree tree = new Tree();

        @Actor
        public void move() {
            tree.rename();
        }

        @Actor
        public void ask(I_Result r) {
            long issued = tree.table.generation().issued();
            String path = tree.table.path(tree.file);
            boolean right = tree.path.equals(path);
            r.r1 = quietly(() -> tree.pathLocks.directoryMovedSince(issued, path) ? 2 : right ? 1 : 0);
        }
    }
}
