package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The {@link InodeTable}: a node that the kernel knows is in the table, whoever evicts meanwhile; each file has one node, each
 * node one name; and an {@link Inode} shows an opener that it is being unlinked, or shows the unlinker that it is open.
 */
public final class InodeTableStress {
    private static final long FILE = 42L << 24;
    private static final long NODE = InodeTable.nodeOf(FILE);

    private InodeTableStress() {}

    /** A table that keeps nothing idle. */
    private static InodeTable table() {
        return new InodeTable("/", 1, 0, new MemoryAccounting(1L << 40), NameCodec.ESCAPED, Clock.system());
    }

    /** A lookup finds the file while the kernel's former knowledge of it ends. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "The kernel knows it, and it has its path.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The kernel knows a node that the table has dropped.")
    @State
    public static class LookupWhileForgotten {
        private final InodeTable table = table();
        private final Name name = Name.of("a");

        public LookupWhileForgotten() {
            look();
        }

        private void look() {
            Inode inode = table.of(FILE, false);
            table.attach(table.root(), name, inode, 1);
            table.lookedUp(inode);
        }

        @Actor
        public void lookup() {
            look();
        }

        @Actor
        public void forget() {
            table.forget(NODE, 1);
        }

        @Arbiter
        public void end(II_Result r) {
            Inode inode = table.get(NODE);
            r.r1 = inode != null && inode.isKnown() ? 1 : 0;
            r.r2 = inode != null && "/a".equals(table.path(inode)) ? 1 : 0;
        }
    }

    /** Two find a file of which nothing was known. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "One node, looked up twice.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Two nodes, or a lookup was lost.")
    @State
    public static class TwoLookups {
        private final InodeTable table = table();
        private final Inode[] found = new Inode[2];

        @Actor
        public void one() {
            found[0] = table.of(FILE, false);
            table.lookedUp(found[0]);
        }

        @Actor
        public void other() {
            found[1] = table.of(FILE, false);
            table.lookedUp(found[1]);
        }

        @Arbiter
        public void end(II_Result r) {
            Inode inode = table.get(NODE);
            boolean one = inode != null && (found[0] == inode || found[1] == inode);
            r.r1 = one && table.forget(NODE, 1) == null && table.get(NODE) == inode ? 1 : 0;
            r.r2 = table.forget(NODE, 1) == inode ? 1 : 0;
        }
    }

    /** Two turn an open away from one node. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 1", "0, 1, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "One forks the node; its name leads to the new one.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Both do, or the name leads to the old node.")
    @State
    public static class TwoSplits {
        private final InodeTable table =
                new InodeTable("/", 1, 100, new MemoryAccounting(1L << 40), NameCodec.ESCAPED, Clock.system());
        private final Name name = Name.of("a");
        private final Inode old = table.of(FILE, false);

        public TwoSplits() {
            table.attach(table.root(), name, old, 1);
            table.lookedUp(old);
        }

        @Actor
        public void one(III_Result r) {
            r.r1 = table.split(old, 2) ? 1 : 0;
        }

        @Actor
        public void other(III_Result r) {
            r.r2 = table.split(old, 2) ? 1 : 0;
        }

        @Arbiter
        public void end(III_Result r) {
            Inode now = table.child(table.root(), name);
            r.r3 = now != null && now != old && table.of(FILE, false) == now && table.size() == 3 ? 1 : 0;
        }
    }

    /** Two renames of one file. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 0", "0, 1, 0"},
            expect = Expect.ACCEPTABLE,
            desc = "It has one name.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "It has two or none, or the bytes of names are counted wrongly.")
    @State
    public static class TwoRenames {
        private final InodeTable table = table();
        private final Name first = Name.of("first");
        private final Name one = Name.of("one");
        private final Name two = Name.of("two");
        private final Inode inode = table.of(FILE, false);
        private final long bytes;

        public TwoRenames() {
            table.lookedUp(inode);
            table.attach(table.root(), first, inode, 1);
            bytes = table.estimatedBytes();
        }

        @Actor
        public void one() {
            table.attach(table.root(), one, inode, 2);
        }

        @Actor
        public void two() {
            table.attach(table.root(), two, inode, 2);
        }

        @Arbiter
        public void end(III_Result r) {
            r.r1 = table.child(table.root(), one) == inode && table.isAt(table.root(), one, inode) ? 1 : 0;
            r.r2 = table.child(table.root(), two) == inode && table.isAt(table.root(), two, inode) ? 1 : 0;
            r.r3 = (int) (table.estimatedBytes() - bytes)
                    + table.root().dentries().children()
                    - 1;
        }
    }

    /** A response that found the name comes while this mount removes it. */
    @JCStressTest
    @Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "The name leads nowhere.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The file is back, by a response to a request before the removal.")
    @State
    public static class ResponseWhileRemoved {
        private final InodeTable table =
                new InodeTable("/", 1, 100, new MemoryAccounting(1L << 40), NameCodec.ESCAPED, Clock.system());
        private final Name name = Name.of("a");
        private final Inode inode = table.of(FILE, false);
        private final long issued = table.generation().issued();

        public ResponseWhileRemoved() {
            table.see(table.root(), name, inode, issued, 1);
        }

        @Actor
        public void remove() {
            table.taken(table.root(), name, 2);
        }

        @Actor
        public void respond() {
            table.see(table.root(), name, inode, issued, 3);
        }

        @Arbiter
        public void end(I_Result r) {
            r.r1 = table.child(table.root(), name) == null ? 0 : 1;
        }
    }

    /** A file is opened while its name is being taken away. */
    @JCStressTest
    @Outcome(
            id = {"1, 0", "0, 1", "1, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "One sees the other.")
    @Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "The file goes under the opener.")
    @State
    public static class OpenWhileUnlinked {
        private final Inode inode = new Inode(NODE, FILE, false, new MemoryAccounting(1));

        @Actor
        public void open(II_Result r) {
            inode.opened(false);
            r.r1 = inode.isGoing() ? 1 : 0;
        }

        @Actor
        public void unlink(II_Result r) {
            inode.startGoing();
            r.r2 = inode.handles();
        }
    }
}
