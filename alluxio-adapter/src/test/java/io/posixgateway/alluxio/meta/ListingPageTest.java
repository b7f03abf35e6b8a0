package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.ManualClock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ListingPageTest {
    private final InodeTable table =
            new InodeTable("/", 0, 100, new MemoryAccounting(Long.MAX_VALUE), NameCodec.ESCAPED, new ManualClock());

    private ListingPage page(String... names) {
        byte[][] all = new byte[names.length][];
        Inode[] inodes = new Inode[names.length];
        for (int i = 0; i < names.length; i++) {
            all[i] = Name.of(names[i]).toBytes();
            inodes[i] = table.of(100 + i, false);
        }
        return new ListingPage(all, inodes, names.length);
    }

    private static List<String> names(ListingPage page) {
        List<String> names = new ArrayList<>();
        Name name = new Name();
        for (int i = 0; i < page.count(); i++) {
            page.name(i, name);
            names.add(name.toString());
        }
        return names;
    }

    /** A file beside "f0" took the name of "f1" while Alluxio went through the names. */
    @Test
    void whatAlluxioListsIsShownOnceAndInOrder() {
        Inode[] files = {table.of(1, false), table.of(2, false), table.of(3, false), table.of(4, false)};
        ListingPage page = ListingPage.listed(bytes("f1", "f0", "f1", "f2"), files, 4, NameCodec.ESCAPED);
        assertThat(names(page)).containsExactly("f0", "f1", "f2");
        assertThat(page.inode(1)).isSameAs(files[2]);
        assertThat(names(ListingPage.listed(bytes("f0", "f1", "f1", "not counted"), files, 3, NameCodec.ESCAPED)))
                .containsExactly("f0", "f1");
        assertThat(names(ListingPage.listed(bytes("a", "b", "c", "d"), files, 4, NameCodec.ESCAPED)))
                .containsExactly("a", "b", "c", "d");
    }

    private static byte[][] bytes(String... names) {
        return Stream.of(names).map(name -> Name.of(name).toBytes()).toArray(byte[][]::new);
    }

    @Test
    void aNameThatIsMissingComesToItsPlace() {
        ListingPage page = page("b", "d");
        Inode fresh = table.of(200, false);
        assertThat(names(page.with(Name.of("a"), fresh, NameCodec.ESCAPED))).containsExactly("a", "b", "d");
        assertThat(names(page.with(Name.of("c"), fresh, NameCodec.ESCAPED))).containsExactly("b", "c", "d");
        assertThat(names(page.with(Name.of("e"), fresh, NameCodec.ESCAPED))).containsExactly("b", "d", "e");
        assertThat(page.with(Name.of("c"), fresh, NameCodec.ESCAPED).inode(1)).isSameAs(fresh);
    }

    @Test
    void aFileThatStillHasItsNameStays() {
        ListingPage page = page("b", "d");
        assertThat(page.with(Name.of("d"), table.of(200, false), NameCodec.ESCAPED))
                .isSameAs(page);
    }

    /** A file that replaces another is on the page once, or who goes on behind it would see names again, or miss some. */
    @Test
    void aFileThatTakesAnothersNameLeavesItsOwn() {
        ListingPage page = page("beside", "f0", "f1");
        page.inode(1).markUnlinked();
        Inode beside = page.inode(0);
        ListingPage after = page.with(Name.of("f0"), beside, NameCodec.ESCAPED);
        assertThat(names(after)).containsExactly("f0", "f1");
        assertThat(after.behind(beside.node(), 0)).isEqualTo(1);
        ListingPage last = page("f0", "f1", "tmp");
        last.inode(0).markUnlinked();
        assertThat(names(last.with(Name.of("f0"), last.inode(2), NameCodec.ESCAPED)))
                .containsExactly("f0", "f1");
    }
}
