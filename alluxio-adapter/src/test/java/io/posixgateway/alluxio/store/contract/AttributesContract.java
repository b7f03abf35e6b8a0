package io.posixgateway.alluxio.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.spi.Errno;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Modes, extended attributes and times. */
abstract class AttributesContract extends ContractCase {
    AttributesContract(StoreFixture fixture) throws StoreException {
        super(fixture);
    }

    @Test
    void change_setsModeAndLeavesTheRest() throws Exception {
        write(at("file"), "x");
        store.change(at("file"), change(0400, Map.of("user.a", bytes("1"))));
        FileStatus changed = store.status(at("file"));
        assertThat(changed.mode()).isEqualTo(0400);
        assertThat(changed.owner()).isEqualTo(store.user());
        store.change(at("file"), new io.posixgateway.alluxio.store.Store.Change(null, null, null, Map.of()));
        assertThat(store.status(at("file")).mode()).isEqualTo(0400);
        assertThat(store.status(at("file")).xattrs()).containsOnlyKeys("user.a");
    }

    @Test
    void change_putsXattrsBesideAndOver() throws Exception {
        write(at("file"), "x");
        store.change(at("file"), change(0644, Map.of("a", bytes("1"), "b", bytes("2"))));
        store.change(at("file"), change(0644, Map.of("b", bytes("3"), "c", bytes(""))));
        Map<String, byte[]> xattrs = store.status(at("file")).xattrs();
        assertThat(xattrs).containsOnlyKeys("a", "b", "c");
        assertThat(xattrs.get("b")).asString().isEqualTo("3");
        assertThat(xattrs.get("c")).isEmpty();
    }

    @Test
    void removeXattr_takesOneAndDoesNotMindAMissingOne() throws Exception {
        write(at("file"), "x");
        store.change(at("file"), change(0644, Map.of("a", bytes("1"), "b", bytes("2"))));
        store.removeXattr(at("file"), "a");
        store.removeXattr(at("file"), "none");
        assertThat(store.status(at("file")).xattrs()).containsOnlyKeys("b");
    }

    @Test
    void change_ofWhatIsNotThere_fails() throws Exception {
        write(at("file"), "x");
        assertFails(Errno.ENOENT, () -> store.change(at("missing"), change(0600, Map.of())));
        assertFails(Errno.ENOENT, () -> store.removeXattr(at("missing"), "a"));
        assertFails(Errno.EINVAL, () -> store.change(at("file/below"), change(0600, Map.of())));
    }

    @Test
    void change_ofIncompleteFile_works() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        store.change(at("file"), change(0600, Map.of("a", bytes("1"))));
        sink.complete();
        assertThat(store.status(at("file")).mode()).isEqualTo(0600);
        assertThat(store.status(at("file")).xattrs()).containsOnlyKeys("a");
    }

    @Test
    void change_toAnOwnerThatNobodyKnows_isEio() throws Exception {
        write(at("file"), "x");
        assertFails(
                Errno.EIO,
                () -> store.change(
                        at("file"),
                        new io.posixgateway.alluxio.store.Store.Change(null, "no-such-user", "no-group", Map.of())));
        assertThat(store.status(at("file")).owner()).isEqualTo(store.user());
    }

    private long modified(String name) throws StoreException {
        FileStatus status = store.status(at(name));
        assertThat(status.accessedMillis()).as("access time").isEqualTo(status.modifiedMillis());
        return status.modifiedMillis();
    }

    @Test
    void modified_ofFile_isWhenItWasCompleted() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        long begun = modified("file");
        fixture.later();
        put(sink, "x");
        assertThat(modified("file")).isEqualTo(begun);
        sink.complete();
        long completed = modified("file");
        assertThat(completed).isGreaterThan(begun);
        fixture.later();
        store.change(at("file"), change(0600, Map.of("a", bytes("1"))));
        store.rename(at("file"), at("renamed"), false);
        assertThat(read(at("renamed"))).isEqualTo("x");
        assertThat(modified("renamed"))
                .as("as before: changes and renames do not count")
                .isEqualTo(completed);
    }

    /** What is shown of a directory rests on that: nobody is asked for its time after a file was made in it. */
    @Test
    void modified_ofDirectory_isNotLaterThanThatOfTheFileMadeLast() throws Exception {
        long before = modified("");
        fixture.later();
        StoreWriter sink = begin(store, at("file"));
        assertThat(modified("file")).isEqualTo(sink.madeMillis());
        assertThat(modified("")).isGreaterThan(before).isLessThanOrEqualTo(sink.madeMillis());
        fixture.later();
        store.makeDirectory(at("directory"), 0755, Map.of());
        assertThat(modified("")).isGreaterThan(sink.madeMillis()).isLessThanOrEqualTo(modified("directory"));
        sink.complete();
    }

    /** It is shown as the access time, as Alluxio's moves with the names. */
    @Test
    void created_ofDirectory_staysWhenItsNamesChange() throws Exception {
        store.makeDirectory(at("directory"), 0755, Map.of());
        int created = store.status(at("directory")).createdSeconds();
        assertThat(created).isPositive();
        fixture.later();
        begin(store, at("directory/file")).complete();
        store.rename(at("directory"), at("renamed"), false);
        fixture.later();
        store.delete(at("renamed/file"));
        assertThat(store.status(at("renamed")).createdSeconds()).isEqualTo(created);
        assertThat(store.list(at(""), "", 10).entries())
                .extracting(FileStatus::createdSeconds)
                .containsExactly(created);
    }

    @Test
    void modified_ofDirectory_isWhenItsNamesChanged() throws Exception {
        StoreWriter sink = begin(store, at("file"));
        long made = modified("");
        fixture.later();
        put(sink, "x");
        sink.complete();
        assertThat(modified("")).as("completing is none").isEqualTo(made);
        store.change(at("file"), change(0600, Map.of()));
        store.list(at(""), "", 10);
        assertThat(modified("")).isEqualTo(made);
        store.rename(at("file"), at("renamed"), false);
        long renamed = modified("");
        assertThat(renamed).isGreaterThan(made);
        fixture.later();
        store.delete(at("renamed"));
        assertThat(modified("")).isGreaterThan(renamed);
    }
}
