package io.posixgateway.alluxio.store.contract;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.fuse.conformance.Eventually;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** An object is written over where it is. On an object store, but for the first case. */
abstract class OverwriteContract extends ContractCase {
    private static final Map<String, byte[]> XATTRS = Map.of("user.a", bytes("1"));

    /** More than a client holds back. */
    private static final int SENT_BYTES = 4 << 20;

    OverwriteContract(StoreFixture fixture) throws StoreException {
        super(fixture);
    }

    private void assumeObjects() throws StoreException {
        assumeTrue(store.copiesOnRename(at("")), "of object stores");
    }

    private StoreWriter overwriting(String path, long id) throws StoreException {
        return requireNonNull(store.overwrite(path, id));
    }

    private void overwrite(String path, String text) throws StoreException {
        StoreWriter writer = overwriting(path, store.status(path).id());
        put(writer, text);
        writer.complete();
    }

    @Test
    void overwrite_elsewhereThanInAnObjectStore_isNoWay() throws Exception {
        assumeTrue(!store.copiesOnRename(at("")), "it is an object store");
        long id = write(at("file"), "old");
        assertThat(store.overwrite(at("file"), id)).isNull();
    }

    @Test
    void overwrite_ofAnotherFile_orOfNone_isNoWay() throws Exception {
        assumeObjects();
        long id = write(at("file"), "old");
        assertThat(store.overwrite(at("file"), id + 1)).isNull();
        assertThat(store.overwrite(at("missing"), id)).isNull();
        store.makeDirectory(at("dir"), 0755, Map.of());
        assertThat(store.overwrite(at("dir"), store.status(at("dir")).id())).isNull();
        StoreWriter sink = begin(store, at("incomplete"));
        assertThat(store.overwrite(at("incomplete"), sink.fileId())).isNull();
    }

    @Test
    void overwrite_ofWhatTheUfsDoesNotHave_isNoWay() throws Exception {
        assumeObjects();
        Store cached = fixture.client(WriteType.MUST_CACHE, 0);
        long id = write(cached, at("file"), "old");
        assertThat(store.overwrite(at("file"), id)).isNull();
        long persisted = write(at("persisted"), "old");
        assertThat(cached.overwrite(at("persisted"), persisted))
                .as("what is to be in workers alone")
                .isNull();
    }

    @Test
    void overwrite_isLearnedByAComparison_whichLosesAttributes() throws Exception {
        assumeObjects();
        long id = write(at("file"), "old");
        store.change(at("file"), change(0640, XATTRS));
        fixture.later();
        overwrite(at("file"), "new content");
        assertThat(outside(at("file"))).isEqualTo("new content");
        FileStatus before = store.status(at("file"));
        assertThat(before.id()).isEqualTo(id);
        assertThat(before.lengthBytes()).isEqualTo(3);
        FileStatus after = store.compared(at("file"));
        assertThat(after.id()).isNotEqualTo(id);
        assertThat(after.lengthBytes()).isEqualTo(11);
        assertThat(after.mode()).isEqualTo(0700);
        assertThat(after.xattrs()).isEmpty();
        assertThat(read(at("file"))).isEqualTo("new content");
        assertThat(list(at(""))).containsExactly("file");
    }

    @Test
    void overwrite_bySameContent_isTheSameFile() throws Exception {
        assumeObjects();
        long id = write(at("file"), "content");
        store.change(at("file"), change(0640, XATTRS));
        fixture.later();
        overwrite(at("file"), "content");
        FileStatus after = store.compared(at("file"));
        assertThat(after.id()).isEqualTo(id);
        assertThat(after.mode()).isEqualTo(0640);
        assertThat(after.xattrs()).containsOnlyKeys("user.a");
    }

    @Test
    void attributes_thatAreGivenBack_outliveTheNextComparison() throws Exception {
        assumeObjects();
        write(at("file"), "old");
        FileStatus before = store.status(at("file"));
        fixture.later();
        overwrite(at("file"), "new content");
        store.compared(at("file"));
        store.change(at("file"), new Store.Change(0640, before.owner(), before.group(), XATTRS));
        FileStatus given = store.status(at("file"));
        assertThat(given.owner()).isEqualTo(before.owner());
        assertThat(given.group()).isEqualTo(before.group());
        fixture.later();
        FileStatus after = store.compared(at("file"));
        assertThat(after.id()).isEqualTo(given.id());
        assertThat(after.mode()).isEqualTo(0640);
        assertThat(after.owner()).isEqualTo(before.owner());
        assertThat(after.group()).isEqualTo(before.group());
        assertThat(after.xattrs()).containsOnlyKeys("user.a");
    }

    /** The old content is lost once a worker has got some of the new: Alluxio knows of it until it compares. */
    @Test
    void overwrite_thatIsCancelled_removesTheObject() throws Exception {
        assumeObjects();
        long id = write(at("file"), "old");
        StoreWriter writer = overwriting(at("file"), id);
        writer.write(new byte[SENT_BYTES], 0, SENT_BYTES);
        writer.cancel();
        Eventually.holds("the object is gone", () -> fixture.readOutside(at("file")) == null);
        assertThat(store.status(at("file")).id()).isEqualTo(id);
        overwrite(at("file"), "new content");
        assertThat(store.compared(at("file")).lengthBytes()).isEqualTo(11);
        assertThat(read(at("file"))).isEqualTo("new content");
    }

    @Test
    void overwrite_ofAnObjectOfAnotherClient_isAsOfAnyOther() throws Exception {
        assumeObjects();
        fixture.writeOutside(at("file"), bytes("others'"));
        FileStatus before = store.status(at("file"));
        overwrite(at("file"), "new content");
        assertThat(store.compared(at("file")).lengthBytes()).isEqualTo(11);
        store.change(at("file"), new Store.Change(0644, before.owner(), before.group(), XATTRS));
        assertThat(store.compared(at("file")).mode()).isEqualTo(0644);
    }

    @Test
    void overwrite_byNothing_leavesAnEmptyObject() throws Exception {
        assumeObjects();
        long id = write(at("file"), "old");
        fixture.later();
        overwriting(at("file"), id).complete();
        assertThat(store.compared(at("file")).lengthBytes()).isZero();
        assertThat(fixture.readOutside(at("file"))).isEmpty();
    }
}
