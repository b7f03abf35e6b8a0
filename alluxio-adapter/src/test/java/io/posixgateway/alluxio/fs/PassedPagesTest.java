package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.ListingPage;
import io.posixgateway.alluxio.meta.MemoryAccounting;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.ManualClock;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Open directories of one volume remember so many names together. */
class PassedPagesTest {
    private static final int NAMES = 10;

    private final InodeTable table =
            new InodeTable("/", 0, 1000, new MemoryAccounting(Long.MAX_VALUE), NameCodec.ESCAPED, new ManualClock());
    private final PassedPages.Room room = new PassedPages.Room(2 * NAMES);

    /** Of files with ids from this one on. */
    private ListingPage page(int first) {
        byte[][] names = new byte[NAMES][];
        Inode[] inodes = new Inode[NAMES];
        for (int i = 0; i < NAMES; i++) {
            names[i] = ("f" + (first + i)).getBytes(StandardCharsets.UTF_8);
            inodes[i] = table.of(first + i, false);
        }
        return new ListingPage(names, inodes, NAMES);
    }

    private static boolean has(PassedPages pages, ListingPage page) {
        return pages.find(page.inode(0).node(), new Name());
    }

    @Test
    void pages_thatHaveNoRoomBesideThoseOfOthers_takeThatOfTheirOwnOldest() {
        PassedPages one = new PassedPages(room);
        PassedPages other = new PassedPages(room);
        ListingPage first = page(100);
        ListingPage second = page(200);
        ListingPage third = page(300);
        one.add(first);
        other.add(page(400));
        one.add(second);
        assertThat(has(one, first)).isFalse();
        assertThat(has(one, second)).isTrue();
        other.close();
        one.add(third);
        assertThat(has(one, second)).isTrue();
        assertThat(has(one, third)).isTrue();
    }

    @Test
    void room_isGivenBack_byThoseThatAreClearedOrClosed() {
        PassedPages one = new PassedPages(room);
        for (int i = 0; i < 5; i++) {
            one.add(page(100));
            one.add(page(200));
            one.clear();
        }
        one.close();
        one.add(page(300));
        PassedPages other = new PassedPages(room);
        ListingPage first = page(400);
        other.add(first);
        other.add(page(500));
        assertThat(has(other, first)).isTrue();
    }
}
