package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.ManualClock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InodeTableTest {
    private static final int MAX = 100;
    private static final int MAX_BYTES = 4_000_000;

    private final InodeTable table =
            new InodeTable("/base", 0, MAX, new MemoryAccounting(Long.MAX_VALUE), NameCodec.ESCAPED, new ManualClock());

    private Inode at(Inode directory, String name, long fileId, boolean isDirectory) {
        Inode inode = table.of(fileId, isDirectory);
        table.attach(directory, Name.of(name), inode, 0);
        return inode;
    }

    @Test
    void theRootIsOneAndNoFileIdMeetsIt() {
        assertThat(table.root().node()).isEqualTo(FileSystem.ROOT);
        assertThat(table.of(0, true)).isSameAs(table.root());
        assertThat(table.of(1, true).node()).isEqualTo(3);
        assertThat(InodeTable.fileIdOf(InodeTable.nodeOf(1))).isEqualTo(1);
    }

    @Test
    void aPathFollowsRenamesOfTheDirectoriesAboveIt() {
        Inode a = at(table.root(), "a", 10, true);
        Inode b = at(a, "b", 11, true);
        Inode f = at(b, "f", 12, false);
        assertThat(table.path(f)).isEqualTo("/base/a/b/f");
        table.attach(table.root(), Name.of("z"), a, 0);
        assertThat(table.path(f)).isEqualTo("/base/z/b/f");
        assertThat(table.child(table.root(), Name.of("a"))).isNull();
        table.detach(f);
        assertThat(table.path(f)).isEqualTo("/base/z/b/f");
    }

    /** Who asked Alluxio for a name may hear late that it is free: this mount has taken it meanwhile. */
    @Test
    void aNameThatWasTakenSinceItWasAskedForIsNotMissing() {
        Name name = Name.of("f");
        Inode made = table.of(10, false);
        long issued = issued();
        table.attach(table.root(), name, made, 5);
        assertThat(table.seeMissing(table.root(), name, issued, 9)).isNull();
        assertThat(table.child(table.root(), name)).isSameAs(made);
        assertThat(table.seeMissing(table.root(), name, issued(), 9)).isEmpty();
        assertThat(table.child(table.root(), name)).isNull();
    }

    private long issued() {
        return table.generation().issued();
    }

    private boolean see(String name, long fileId, long issued) {
        return table.see(table.root(), Name.of(name), table.of(fileId, false), issued, 9);
    }

    private @Nullable Inode child(String name) {
        return table.child(table.root(), Name.of(name));
    }

    /** Responses may come in another order than they were asked for. */
    @Test
    void see_ofEarlierRequest_doesNotReplaceWhatALaterOneFound() {
        long earlier = issued();
        assertThat(see("f", 11, issued())).isTrue();
        assertThat(see("f", 10, earlier)).isFalse();
        assertThat(child("f")).isSameAs(table.of(11, false));
        assertThat(table.seeMissing(table.root(), Name.of("f"), earlier, 9)).isNull();
        assertThat(see("f", 11, earlier)).as("the same").isTrue();
        assertThat(see("f", 12, issued())).isTrue();
    }

    @Test
    void see_ofRequestBeforeRename_doesNotMoveTheFileBack() {
        Inode file = at(table.root(), "f", 10, false);
        long issued = issued();
        table.attach(table.root(), Name.of("g"), file, 5);
        table.taken(table.root(), Name.of("f"), 5);
        table.root().dentries().dropListing();
        assertThat(see("f", 10, issued)).isFalse();
        assertThat(child("g")).isSameAs(file);
        assertThat(see("f", 10, issued())).as("others renamed it back").isTrue();
    }

    /** Others renamed it: of the name that it had before nothing is known. */
    @Test
    void see_ofEarlierRequest_doesNotMoveTheFileBackThatALaterOneFound() {
        long earlier = issued();
        see("f", 10, issued());
        see("g", 10, issued());
        assertThat(see("f", 10, earlier)).isFalse();
        assertThat(child("g")).isSameAs(table.of(10, false));
    }

    /** That it leads nowhere was said before the removal, too: a response from between is not newer for that. */
    @Test
    void see_ofRequestBeforeRemoval_isTooOld_afterAnEarlierMiss() {
        long first = issued();
        long second = issued();
        at(table.root(), "f", 10, false);
        table.taken(table.root(), Name.of("f"), 5);
        assertThat(table.seeMissing(table.root(), Name.of("f"), first, 9)).isEmpty();
        assertThat(see("f", 10, second)).isFalse();
        assertThat(child("f")).isNull();
    }

    /** It may say what is known, and be of before the change all the same. */
    @Test
    void see_ofRequestBeforeChangeOfUnknownOutcome_isTooOld() {
        at(table.root(), "f", 10, false);
        long issued = issued();
        table.unsure(table.root(), Name.of("f"), Long.MAX_VALUE / 2);
        assertThat(see("f", 10, issued)).isFalse();
        assertThat(table.seeMissing(table.root(), Name.of("f"), issued, 9)).isNull();
        assertThat(see("f", 10, issued())).isTrue();
    }

    @Test
    void see_ofRequestBeforeReplacement_doesNotFindTheOldContent() {
        Inode file = at(table.root(), "f", 10, false);
        table.replaced(file, 11, 5);
        long issued = issued();
        table.replaced(file, 12, 5);
        assertThat(see("f", 11, issued)).isFalse();
        assertThat(child("f")).isSameAs(file);
    }

    /** Of the name nothing is known any more; of others in the directory that this mount did not touch, earlier responses count no less. */
    @Test
    void see_ofRequestBeforeRemovalThatWasForgotten_isTooOld() {
        long before = issued();
        at(table.root(), "f", 10, false);
        see("missing", 12, issued());
        table.seeMissing(table.root(), Name.of("missing"), issued(), 9);
        long issued = issued();
        table.root().dentries().dropMissing(Name.of("missing"));
        assertThat(see("other", 13, before)).as("no change was forgotten").isTrue();
        table.taken(table.root(), Name.of("f"), 5);
        assertThat(see("another", 14, issued))
                .as("what is known of the change says of which name it was")
                .isTrue();
        table.root().dentries().dropListing();
        assertThat(see("f", 11, issued)).isFalse();
        assertThat(see("f", 11, issued())).isTrue();
    }

    @Test
    void see_ofRequestBeforeCreationThatWasEvicted_isTooOld() {
        long issued = issued();
        at(table.root(), "f", 10, false);
        for (int i = 0; i < MAX * 2; i++) {
            see("g" + i, 1000 + i, issued());
        }
        assertThat(child("f")).isNull();
        assertThat(table.seeMissing(table.root(), Name.of("f"), issued, 9)).isNull();
    }

    @Test
    void see_inTheRootBeforeAlluxioBeganAnew_isTooOld() {
        long issued = issued();
        table.restart();
        assertThat(see("f", 10, issued)).isFalse();
        assertThat(see("f", 10, issued())).isTrue();
    }

    @Test
    void newContentKeepsTheNode() {
        Inode f = at(table.root(), "f", 20, false);
        table.replaced(f, 21, 0);
        assertThat(table.of(21, false)).isSameAs(f);
        assertThat(table.adopt(f, 22, 0)).isTrue();
        assertThat(table.of(22, false)).isSameAs(f);
        Inode other = at(table.root(), "other", 23, false);
        assertThat(table.adopt(f, other.fileId(), 0)).isFalse();
    }

    @Test
    void whatTheKernelKnowsIsKeptAndTheRestIsBounded() {
        Inode known = at(table.root(), "known", 1000, false);
        table.lookedUp(known);
        for (int i = 0; i < MAX * 5; i++) {
            at(table.root(), "f" + i, 2000 + i, false);
        }
        assertThat(table.size()).isLessThanOrEqualTo(MAX + 1);
        assertThat(table.get(known.node())).isSameAs(known);
        table.forget(known.node(), 1);
        for (int i = 0; i < MAX * 5; i++) {
            at(table.root(), "g" + i, 9000 + i, false);
        }
        assertThat(table.get(known.node())).isNull();
    }

    @Test
    void whatNobodyUsesIsBoundedByItsBytesToo() {
        MemoryAccounting bytes = new MemoryAccounting(MAX_BYTES);
        InodeTable small = new InodeTable("/", 0, 1_000_000, bytes, NameCodec.ESCAPED, new ManualClock());
        for (int i = 0; i < 8000; i++) {
            Inode inode = small.of(2000 + i, false);
            inode.see(withXattr(bytes, 2000 + i, 1000));
            small.attach(small.root(), Name.of("f" + i), inode, 0);
            assertThat(small.estimatedBytes()).isLessThan(MAX_BYTES + 2 * 1500);
        }
        assertThat(small.size()).isBetween(MAX_BYTES / 1500, MAX_BYTES / 1300);
        assertThat(small.get(InodeTable.nodeOf(9999))).isNotNull();
        for (int i = 0; i < 20_000; i++) {
            Inode inode = small.of(20_000 + i, false);
            small.attach(small.root(), Name.of("g".repeat(200) + i), inode, 0);
        }
        assertThat(small.estimatedBytes()).isLessThan(MAX_BYTES + 500);
        assertThat(small.size()).isBetween(MAX_BYTES / 500, MAX_BYTES / 300);
    }

    @Test
    void aNewNodeIsThereHoweverManyTheKernelKnows() {
        for (int i = 0; i < MAX * 2; i++) {
            table.lookedUp(at(table.root(), "known" + i, 1000 + i, false));
        }
        for (int i = 0; i < MAX * 2; i++) {
            Inode fresh = at(table.root(), "f" + i, 5000 + i, false);
            assertThat(table.get(fresh.node())).isSameAs(fresh);
            table.lookedUp(fresh);
            assertThat(table.get(fresh.node())).isSameAs(fresh);
        }
    }

    /** Who found a node may be slower than those who make room. */
    @Test
    void aNodeThatWasDroppedComesBackWhenTheKernelIsToldOfIt() {
        Inode slow = at(table.root(), "slow", 1000, false);
        Inode placed = at(table.root(), "placed", 1001, false);
        Inode late = at(table.root(), "late", 1002, false);
        for (int i = 0; i < MAX * 2; i++) {
            at(table.root(), "f" + i, 5000 + i, false);
        }
        assertThat(table.get(slow.node())).isNull();
        table.lookedUp(slow);
        assertThat(table.get(slow.node())).isSameAs(slow);
        table.attach(table.root(), Name.of("placed"), placed, 0);
        assertThat(table.get(placed.node())).isSameAs(placed);
        Inode other = table.of(1002, false);
        assertThat(other).isNotSameAs(late);
        table.attach(table.root(), Name.of("late"), late, 0);
        assertThat(table.child(table.root(), Name.of("late"))).isSameAs(other);
        table.lookedUp(late);
        assertThat(other.isKnown()).isTrue();
        assertThat(table.forget(other.node(), 1)).isSameAs(other);
    }

    /** What is counted while names come, go, and are missed is what is there in the end. */
    @Test
    void theBytesAreThoseOfWhatIsThere() {
        long seed = Long.getLong("pgw.seed", System.nanoTime());
        Random random = new Random(seed);
        MemoryAccounting bytes = new MemoryAccounting(Long.MAX_VALUE);
        InodeTable large = new InodeTable("/", 0, 500, bytes, NameCodec.ESCAPED, new ManualClock());
        Inode root = large.root();
        for (int i = 0; i < 50_000; i++) {
            Name name = Name.of("f".repeat(random.nextInt(50)) + random.nextInt(1000));
            Inode inode = large.of(1 + random.nextInt(3000), false);
            switch (random.nextInt(6)) {
                case 0 -> large.taken(root, name, i);
                case 1 -> inode.see(withXattr(bytes, inode.fileId(), random.nextInt(100)));
                case 2 -> inode.invalidateAttr(large.generation().changed());
                case 3 -> root.dentries().dropMissing(name);
                default -> large.attach(root, name, inode, i);
            }
            if (random.nextInt(5000) == 0) {
                root.dentries().dropListing();
            }
        }
        long missing = root.dentries().dropListing().stream()
                .mapToLong(MemoryAccounting::ofMissing)
                .sum();
        assertThat(missing).isPositive();
        for (int id = 1; id <= 3000; id++) {
            Inode inode = large.get(InodeTable.nodeOf(id));
            if (inode != null) {
                inode.invalidateAttr(large.generation().changed());
            }
        }
        long names = root.dentries().snapshot().stream()
                .mapToLong(child -> MemoryAccounting.of(child.name == null ? 0 : child.name.length))
                .sum();
        assertThat(large.estimatedBytes())
                .as("seed %d", seed)
                .isEqualTo(new MemoryAccounting(0).sum(large.size()) + names);
    }

    private static Attr withXattr(MemoryAccounting bytes, long fileId, int valueBytes) {
        FileStatus status = new FileStatus(
                fileId, "f", false, true, 1, 1, 0644, "root", "root", 0, 0, Map.of("x", new byte[valueBytes]));
        Attr.Kind kind = new Attr.Kind(false, true, 1, 0644, 0100644, 0, 0, "root", "root");
        Name target = Name.of(new byte[0]);
        return new Attr(0, status, kind, new Attr.Extra(bytes, status.xattrs(), target, 0, 0, 0, 0, 0, 0, 0, 0));
    }

    @Test
    void aLongMapAgreesWithAMap() {
        long seed = Long.getLong("pgw.seed", System.nanoTime());
        Random random = new Random(seed);
        Map<Long, String> model = new HashMap<>();
        LongMap<String> longs = new LongMap<>();
        for (int i = 0; i < 100_000; i++) {
            long key = 1L + random.nextInt(3000);
            if (random.nextInt(3) == 0) {
                assertThat(longs.remove(key)).as("seed %d", seed).isEqualTo(model.remove(key));
            } else {
                assertThat(longs.put(key, "v" + i)).as("seed %d", seed).isEqualTo(model.put(key, "v" + i));
            }
        }
        assertThat(longs.size()).isEqualTo(model.size());
        model.forEach((key, value) -> assertThat(longs.get(key)).isEqualTo(value));
    }

    @Test
    void namesAgreeWithAMapThroughRenamesAndRemovals() {
        long seed = Long.getLong("pgw.seed", System.nanoTime());
        Random random = new Random(seed);
        InodeTable large = new InodeTable(
                "/", 0, 1_000_000, new MemoryAccounting(Long.MAX_VALUE), NameCodec.ESCAPED, new ManualClock());
        Map<String, Inode> model = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            String name = "f" + random.nextInt(2000);
            if (random.nextInt(3) == 0) {
                large.taken(large.root(), Name.of(name), i);
                model.remove(name);
            } else {
                Inode inode = large.of(1 + random.nextInt(3000), false);
                model.values().remove(inode);
                model.put(name, inode);
                large.attach(large.root(), Name.of(name), inode, i);
            }
        }
        for (int i = 0; i < 2000; i++) {
            Name name = Name.of("f" + i);
            assertThat(large.child(large.root(), name)).as("seed %d", seed).isSameAs(model.get("f" + i));
        }
        assertThat(large.root().dentries().snapshot()).containsExactlyInAnyOrderElementsOf(model.values());
    }

    @Test
    void aNameThatIsBeingReplacedHasAHolderAllTheTime() {
        Name name = Name.of("f");
        Inode before = at(table.root(), "f", 20, false);
        Inode next = table.of(21, false);
        Dentries names = table.root().dentries();
        names.replacing(name, next);
        assertThat(names.holder(name)).isSameAs(before);
        assertThat(names.replacedSince(100)).containsExactly(name);
        before.markUnlinked();
        assertThat(names.holder(name)).isSameAs(next);
        table.detach(before);
        assertThat(names.holder(name)).isSameAs(next);
        table.attach(table.root(), name, next, 50);
        names.replaced(name, 50);
        assertThat(names.holder(name)).isSameAs(next);
        assertThat(names.replacedSince(50)).containsExactly(name);
        assertThat(names.replacedSince(51)).isEmpty();
        table.taken(table.root(), name, 52);
        assertThat(names.holder(name)).isNull();
    }

    @Test
    void aListingThatLackedANameBeingReplacedIsNotKept() {
        Inode f = at(table.root(), "f", 20, false);
        Inode g = table.of(21, false);
        table.attach(table.root(), Name.of("g"), g, 6);
        Dentries names = table.root().dentries();
        names.keepListing(List.of(g), 5);
        assertThat(names.listing()).isNotNull();
        table.replaced(f, 22, 7);
        assertThat(names.listing()).isNull();
    }
}
