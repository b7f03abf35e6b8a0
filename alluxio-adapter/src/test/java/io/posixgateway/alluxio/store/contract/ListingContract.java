package io.posixgateway.alluxio.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What listings show. */
abstract class ListingContract extends ContractCase {
    /** As {@link String#compareTo} has it: what is beyond the BMP comes before its last letters. */
    private static final List<String> ORDERED =
            List.of("10", "2", "A", "B", "a", "a b", "a.b", "b", "\uD83D\uDE00", "\uFF5E");

    ListingContract(StoreFixture fixture) throws StoreException {
        super(fixture);
    }

    private void makeAll() throws StoreException {
        for (int i = ORDERED.size() - 1; i >= 0; i--) {
            write(at(ORDERED.get(i)), ORDERED.get(i));
        }
    }

    @Test
    void list_isInTheOrderOfUtf16() throws Exception {
        makeAll();
        assertThat(list(at(""))).isEqualTo(ORDERED);
    }

    @Test
    void list_inParts_tellsWhetherThereIsMore() throws Exception {
        makeAll();
        Store.Page first = store.list(at(""), "", 3);
        assertThat(names(first)).isEqualTo(ORDERED.subList(0, 3));
        assertThat(first.more()).isTrue();
        Store.Page next = store.list(at(""), "A", 3);
        assertThat(names(next)).isEqualTo(ORDERED.subList(3, 6));
        assertThat(next.more()).isTrue();
        Store.Page last = store.list(at(""), "a.b", 3);
        assertThat(names(last)).isEqualTo(ORDERED.subList(7, 10));
        assertThat(last.more()).isFalse();
    }

    @Test
    void list_behindANameThatIsNotThere_beginsAtTheNext() throws Exception {
        makeAll();
        assertThat(names(store.list(at(""), "aa", 2))).containsExactly("b", "\uD83D\uDE00");
        assertThat(names(store.list(at(""), "\uFF5E", 2))).isEmpty();
    }

    @Test
    void list_showsWhatStatusShows() throws Exception {
        store.makeDirectory(at("dir"), 0700, Map.of("user.a", bytes("1")));
        write(at("file"), "content");
        begin(store, at("incomplete"));
        for (FileStatus entry : store.list(at(""), "", 10).entries()) {
            FileStatus status = store.status(at(entry.name()));
            assertThat(entry)
                    .usingRecursiveComparison()
                    .ignoringFields("xattrs")
                    .isEqualTo(status);
            assertThat(entry.xattrs().keySet()).isEqualTo(status.xattrs().keySet());
        }
        assertThat(list(at(""))).containsExactly("dir", "file", "incomplete");
    }

    @Test
    void list_ofFile_isTheFile() throws Exception {
        write(at("file"), "x");
        assertThat(list(at("file"))).containsExactly("file");
    }

    @Test
    void list_ofMissing_isEnoent() {
        assertFails(Errno.ENOENT, () -> store.list(at("missing"), "", 10));
    }

    @Test
    void list_ofEmptyDirectory_isEmpty() throws Exception {
        Store.Page page = store.list(at(""), "", 10);
        assertThat(page.entries()).isEmpty();
        assertThat(page.more()).isFalse();
    }
}
