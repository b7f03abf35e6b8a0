package io.posixgateway.alluxio.store.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.store.FileDetails;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreNames;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.fuse.spi.Errno;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What others do in the UFS, and how Alluxio learns of it. */
abstract class UfsContract extends ContractCase {
    UfsContract(StoreFixture fixture) throws StoreException {
        super(fixture);
    }

    private void outsideWrites(String name, String text) throws Exception {
        fixture.writeOutside(at(name), bytes(text));
    }

    /** PathLimit, which Metadata.newPathOf asks, refuses such paths before. */
    @Test
    void makeDirectory_atAPathLongerThanTheUfsTakes_isEio() throws Exception {
        String path = at("deep");
        store.makeDirectory(path, 0755, Map.of());
        int longest = store.longestPath(path);
        while (path.length() + 1 + 200 < longest) {
            path += "/" + "d".repeat(200);
            store.makeDirectory(path, 0755, Map.of());
        }
        String last = path + "/" + "x".repeat(longest - path.length() - 1);
        store.makeDirectory(last, 0755, Map.of());
        assertThat(store.status(last).directory()).isTrue();
        assertFails(Errno.EIO, () -> store.makeDirectory(last + "x", 0755, Map.of()));
    }

    /** The text of the error does not fit into the trailers of the reply. Metadata.pathOf refuses such paths. */
    @Test
    void status_ofMissingPathLongerThanTrailersTake_isEio() {
        assertFails(Errno.ENOENT, () -> store.status(at("missing") + ("/" + "x".repeat(195)).repeat(40)));
        assertFails(Errno.EIO, () -> store.status(at("missing") + ("/" + "x".repeat(195)).repeat(42)));
        assertFails(Errno.ENOENT, () -> store.status(at("missing") + ("/" + "é".repeat(65)).repeat(19)));
        assertFails(Errno.EIO, () -> store.status(at("missing") + ("/" + "é".repeat(65)).repeat(22)));
    }

    @Test
    void status_saysWhatNamesTheUfsTakes() throws Exception {
        store.makeDirectory(at("dir"), 0755, Map.of());
        StoreNames names = store.status(at("")).storeNames();
        assertThat(names == StoreNames.LISTED_AS_XML).isEqualTo(store.copiesOnRename(at("")));
        assertThat(store.list(at(""), "", 10).entries()).singleElement().returns(names, FileStatus::storeNames);
    }

    @Test
    void makeDirectory_ofNameThatTheUfsRefuses_isEio() throws Exception {
        assumeTrue(store.status(at("")).storeNames() == StoreNames.WITHOUT_COLON, "all names are taken");
        assertFails(Errno.ENOENT, () -> store.status(at("a:b")));
        assertFails(Errno.EIO, () -> store.makeDirectory(at("a:b"), 0755, Map.of()));
    }

    @Test
    void status_loadsWhatOthersMade() throws Exception {
        outsideWrites("file", "content");
        FileStatus loaded = store.status(at("file"));
        assertThat(loaded.lengthBytes()).isEqualTo(7);
        assertThat(loaded.mode()).isEqualTo(0644);
        assertThat(loaded.complete()).isTrue();
        assertThat(store.status(at("file")).id()).isEqualTo(loaded.id());
        assertThat(read(at("file"))).isEqualTo("content");
    }

    @Test
    void status_loadsDirectoriesOnTheWay() throws Exception {
        outsideWrites("dir/sub/file", "content");
        assertThat(read(at("dir/sub/file"))).isEqualTo("content");
        assertThat(store.status(at("dir/sub")).directory()).isTrue();
    }

    @Test
    void list_loadsNamesTheFirstTimeOnly() throws Exception {
        outsideWrites("first", "x");
        write(at("own"), "x");
        assertThat(list(at(""))).containsExactly("first", "own");
        outsideWrites("second", "x");
        assertThat(list(at(""))).containsExactly("first", "own");
        store.status(at("second"));
        assertThat(list(at(""))).containsExactly("first", "own", "second");
    }

    @Test
    void status_doesNotSeeThatTheFileChanged_untilItIsCompared() throws Exception {
        outsideWrites("file", "old");
        long id = store.status(at("file")).id();
        fixture.later();
        outsideWrites("file", "new content");
        assertThat(store.status(at("file")).lengthBytes()).isEqualTo(3);
        FileStatus compared = store.compared(at("file"));
        assertThat(compared.lengthBytes()).isEqualTo(11);
        assertThat(compared.id()).isNotEqualTo(id);
        assertThat(read(at("file"))).isEqualTo("new content");
        assertFails(Errno.ENOENT, () -> store.pathOf(id));
    }

    @Test
    void status_doesNotSeeThatTheFileIsGone_untilItIsCompared() throws Exception {
        write(at("file"), "content");
        fixture.deleteOutside(at("file"));
        assertThat(store.status(at("file")).complete()).isTrue();
        assertFails(Errno.ENOENT, () -> store.compared(at("file")));
        assertFails(Errno.ENOENT, () -> store.status(at("file")));
        assertThat(list(at(""))).isEmpty();
    }

    @Test
    void compared_whereNothingChanged_keepsIdAndXattrs() throws Exception {
        long id = write(at("file"), "content");
        store.change(at("file"), change(0600, Map.of("user.a", bytes("1"))));
        FileStatus compared = store.compared(at("file"));
        assertThat(compared.id()).isEqualTo(id);
        assertThat(compared.mode()).isEqualTo(0600);
        assertThat(compared.xattrs()).containsOnlyKeys("user.a");
        assertThat(store.compared(at("")).directory()).isTrue();
    }

    @Test
    void compared_whereTheContentChanged_losesXattrs() throws Exception {
        write(at("file"), "content");
        store.change(at("file"), change(0600, Map.of("user.a", bytes("1"))));
        fixture.later();
        outsideWrites("file", "changed content");
        FileStatus compared = store.compared(at("file"));
        assertThat(compared.xattrs()).isEmpty();
    }

    /** RenameOutcomes knows a renamed file by it of which Alluxio has noted nothing. */
    @Test
    void contentTag_isKeptByARename_andBelongsToOneContent() throws Exception {
        long id = write(at("file"), "content");
        FileDetails before = store.details(at("file"));
        fixture.later();
        write(at("other"), "CONTENT");
        store.rename(at("file"), at("renamed"), false);
        FileDetails after = store.details(at("renamed"));
        assertThat(after.hasContentOf(before)).as(after.contentTag()).isTrue();
        assertThat(store.details(at("other")).hasContentOf(before)).isFalse();
        assertThat(store.compared(at("renamed")).id())
                .as("the UFS says the same")
                .isEqualTo(id);
        fixture.later();
        outsideWrites("renamed", "CONTENT");
        store.compared(at("renamed"));
        assertThat(store.details(at("renamed")).hasContentOf(before)).isFalse();
    }

    @Test
    void contentTag_ofWhatTheUfsDoesNotHave_isOfNoContent() throws Exception {
        write(fixture.client(WriteType.MUST_CACHE, 0), at("cached"), "content");
        FileDetails cached = store.details(at("cached"));
        assertThat(cached.hasContentOf(cached)).isFalse();
        FileDetails directory = store.details(at(""));
        assertThat(directory.hasContentOf(directory)).isFalse();
    }

    @Test
    void compared_leavesAbandonedCreatesAlone() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        assertThat(store.compared(at("file")).id()).isEqualTo(sink.fileId());
        outsideWrites("file", "others'");
        assertThat(store.compared(at("file")).id()).isEqualTo(sink.fileId());
        assertThat(store.status(at("file")).complete()).isFalse();
    }

    @Test
    void compared_fileThatBecameADirectory_isThatDirectory() throws Exception {
        write(at("name"), "x");
        fixture.deleteOutside(at("name"));
        fixture.makeDirectoryOutside(at("name"));
        assertThat(store.compared(at("name")).directory()).isTrue();
    }

    @Test
    void delete_ofWhatIsGoneInTheUfs_works() throws Exception {
        write(at("file"), "content");
        fixture.deleteOutside(at("file"));
        store.delete(at("file"));
        assertThat(list(at(""))).isEmpty();
    }

    @Test
    void rename_ofWhatIsGoneInTheUfs_isEio() throws Exception {
        write(at("file"), "content");
        fixture.deleteOutside(at("file"));
        assertFails(Errno.EIO, () -> store.rename(at("file"), at("renamed"), false));
        assertFails(Errno.ENOENT, () -> store.status(at("renamed")));
        assertThat(store.status(at("file")).lengthBytes()).isEqualTo(7);
    }

    @Test
    void rename_replacesWhatOnlyTheUfsHas() throws Exception {
        assumeRenamesReplace();
        write(at("file"), "content");
        outsideWrites("there", "others'");
        store.rename(at("file"), at("there"), false);
        assertThat(outside(at("there"))).isEqualTo("content");
    }

    @Test
    void create_whereOnlyTheUfsHasAFile_takesTheName() throws Exception {
        outsideWrites("file", "others'");
        StoreWriter sink = begin(store, at("file"));
        assertThat(store.status(at("file")).complete()).isFalse();
        put(sink, "content");
        sink.complete();
        assertThat(outside(at("file"))).isEqualTo("content");
    }

    @Test
    void makeDirectory_whereOnlyTheUfsHasOne_takesItOver() throws Exception {
        fixture.makeDirectoryOutside(at("dir"));
        store.makeDirectory(at("dir"), 0700, Map.of());
        assertThat(store.status(at("dir")).mode()).as("the UFS's").isEqualTo(0755);
    }
}
