package io.posixgateway.fuse.memory;

import io.posixgateway.fuse.spi.Stat;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The memory file system's {@link InodeTable}, read without a lock: an inode is found whole or not at all. */
public final class MemoryInodesStress {
    private static final Space SPACE = new Space(1 << 20);
    private static final Moment NOW = new Moment(1, 0);

    private MemoryInodesStress() {}

    private static Inode inode(long node) {
        return new Inode(node, 1, new Inode.Birth(Stat.S_IFIFO, 0, 0, 0, null, null), SPACE, NOW);
    }

    /** The table is enlarged for an inode that is looked for, and beside another. */
    @JCStressTest
    @Outcome(
            id = {"0, 1", "1, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "Found or not yet; the one before is found.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Half an inode, half a table, or the one before is missing.")
    @State
    public static class FindWhileAdded {
        private final InodeTable table = new InodeTable();

        public FindWhileAdded() {
            table.add(inode(1023));
        }

        @Actor
        public void add() {
            table.add(inode(1024));
        }

        @Actor
        public void find(II_Result r) {
            try {
                Inode added = table.find(1024);
                r.r1 = added == null ? 0 : added.node == 1024 && added.lock != null ? 1 : 2;
                Inode before = table.find(1023);
                r.r2 = before == null ? 0 : 1;
            } catch (NullPointerException e) {
                r.r1 = 3;
            }
        }
    }
}
