package io.posixgateway.alluxio.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Making, finding, renaming and deleting names. */
abstract class NamesContract extends ContractCase {
    NamesContract(StoreFixture fixture) throws StoreException {
        super(fixture);
    }

    @Test
    void status_missing_isEnoent() {
        assertFails(Errno.ENOENT, () -> store.status(at("missing")));
        assertFails(Errno.ENOENT, () -> store.status(at("missing/below")));
    }

    @Test
    void status_belowFile_isEinval() throws Exception {
        write(at("file"), "x");
        assertFails(Errno.EINVAL, () -> store.status(at("file/below")));
    }

    @Test
    void nameWithBackslash_isEinval() {
        assertFails(Errno.EINVAL, () -> store.status(at("a\\b")));
        assertFails(Errno.EINVAL, () -> store.makeDirectory(at("a\\b"), 0755, Map.of()));
        assertFails(Errno.EINVAL, () -> begin(store, at("a\\b")));
    }

    @Test
    void nameWithQuestionMark_isEinval() throws Exception {
        write(at("file"), "x");
        write(at("a"), "x");
        assertFails(Errno.EINVAL, () -> store.status(at("a?b")));
        assertFails(Errno.EINVAL, () -> store.makeDirectory(at("a?b"), 0755, Map.of()));
        assertFails(Errno.EINVAL, () -> begin(store, at("a?b")));
        assertFails(Errno.EINVAL, () -> store.rename(at("file"), at("a?b"), false));
    }

    /** Alluxio takes it for a drive of Windows, and its path for a relative one. */
    @Test
    void pathOf_nameInTheRootThatLooksLikeADrive_isAbsolute() throws Exception {
        assumeColons();
        String path = "/c:" + at("").substring(1).replace('/', '-');
        store.makeDirectory(path, 0755, Map.of());
        try {
            assertThat(store.pathOf(store.status(path).id())).isEqualTo(path);
        } finally {
            store.delete(path);
        }
    }

    @Test
    void makeDirectory_showsItsModeAndXattrs() throws Exception {
        store.makeDirectory(at("dir"), 0750, Map.of("user.a", bytes("1")));
        FileStatus made = store.status(at("dir"));
        assertThat(made.directory()).isTrue();
        assertThat(made.complete()).isTrue();
        assertThat(made.name()).isEqualTo("dir");
        assertThat(made.mode()).isEqualTo(0750);
        assertThat(made.owner()).isEqualTo(store.user());
        assertThat(made.xattrs()).containsOnlyKeys("user.a");
        assertThat(made.lengthBytes()).isZero();
    }

    @Test
    void directory_hasAsItsLengthTheNumberOfItsNames() throws Exception {
        write(at("a"), "x");
        store.makeDirectory(at("b"), 0755, Map.of());
        assertThat(store.status(at("")).lengthBytes()).isEqualTo(2);
    }

    @Test
    void makeDirectory_whereSomethingIs_isEexist() throws Exception {
        write(at("file"), "x");
        assertFails(Errno.EEXIST, () -> store.makeDirectory(at("file"), 0755, Map.of()));
        assertFails(Errno.EEXIST, () -> store.makeDirectory(at(""), 0755, Map.of()));
    }

    @Test
    void makeDirectory_withoutParent_fails() throws Exception {
        write(at("file"), "x");
        assertFails(Errno.ENOENT, () -> store.makeDirectory(at("missing/dir"), 0755, Map.of()));
        assertFails(Errno.EINVAL, () -> store.makeDirectory(at("file/dir"), 0755, Map.of()));
    }

    @Test
    void create_whereSomethingIs_isEexist() throws Exception {
        write(at("file"), "x");
        assertFails(Errno.EEXIST, () -> begin(store, at("file")));
        assertFails(Errno.EEXIST, () -> begin(store, at("")));
    }

    @Test
    void create_withoutParent_fails() throws Exception {
        write(at("file"), "x");
        assertFails(Errno.ENOENT, () -> begin(store, at("missing/new")));
        assertFails(Errno.ENOENT, () -> store.status(at("missing")));
        assertFails(Errno.EINVAL, () -> begin(store, at("file/new")));
    }

    @Test
    void delete_takesFilesAndEmptyDirectories() throws Exception {
        write(at("file"), "x");
        store.makeDirectory(at("dir"), 0755, Map.of());
        store.delete(at("file"));
        store.delete(at("dir"));
        assertThat(list(at(""))).isEmpty();
        assertThat(fixture.listOutside(at(""))).isEmpty();
        assertFails(Errno.ENOENT, () -> store.delete(at("file")));
    }

    @Test
    void delete_nonEmptyDirectory_isEnotempty() throws Exception {
        store.makeDirectory(at("dir"), 0755, Map.of());
        write(at("dir/file"), "x");
        assertFails(Errno.ENOTEMPTY, () -> store.delete(at("dir")));
        assertThat(read(at("dir/file"))).isEqualTo("x");
    }

    @Test
    void delete_belowFile_isEinval() throws Exception {
        write(at("file"), "x");
        assertFails(Errno.EINVAL, () -> store.delete(at("file/below")));
    }

    @Test
    void rename_keepsIdAndContent() throws Exception {
        long id = write(at("file"), "content");
        store.rename(at("file"), at("renamed"), false);
        FileStatus renamed = store.status(at("renamed"));
        assertThat(renamed.id()).isEqualTo(id);
        assertThat(renamed.name()).isEqualTo("renamed");
        assertThat(store.pathOf(id)).isEqualTo(at("renamed"));
        assertThat(read(at("renamed"))).isEqualTo("content");
        assertThat(outside(at("renamed"))).isEqualTo("content");
        assertFails(Errno.ENOENT, () -> store.status(at("file")));
        assertThat(fixture.listOutside(at(""))).containsExactly("renamed");
    }

    @Test
    void rename_ofDirectory_takesAlongWhatIsBelow() throws Exception {
        store.makeDirectory(at("dir"), 0755, Map.of());
        long id = write(at("dir/file"), "content");
        store.rename(at("dir"), at("moved"), false);
        assertThat(store.pathOf(id)).isEqualTo(at("moved/file"));
        assertThat(read(at("moved/file"))).isEqualTo("content");
        assertThat(outside(at("moved/file"))).isEqualTo("content");
        assertFails(Errno.ENOENT, () -> store.status(at("dir/file")));
    }

    @Test
    void rename_ontoSomething_isEexist() throws Exception {
        write(at("file"), "x");
        write(at("there"), "y");
        store.makeDirectory(at("dir"), 0755, Map.of());
        assertFails(Errno.EEXIST, () -> store.rename(at("file"), at("there"), false));
        assertFails(Errno.EEXIST, () -> store.rename(at("file"), at("dir"), false));
        assertFails(Errno.EEXIST, () -> store.rename(at("dir"), at("there"), false));
        assertThat(read(at("there"))).isEqualTo("y");
    }

    @Test
    void rename_overFile_replacesItInAlluxioAndInTheUfs() throws Exception {
        long id = write(at("new"), "new content");
        long old = write(at("there"), "old");
        store.rename(at("new"), at("there"), true);
        assertThat(store.status(at("there")).id()).isEqualTo(id);
        assertThat(read(at("there"))).isEqualTo("new content");
        assertThat(outside(at("there"))).isEqualTo("new content");
        assertThat(list(at(""))).containsExactly("there");
        assertThat(fixture.listOutside(at(""))).containsExactly("there");
        assertFails(Errno.ENOENT, () -> store.pathOf(old));
    }

    @Test
    void rename_overFile_whereNothingIs_renames() throws Exception {
        long id = write(at("file"), "x");
        store.rename(at("file"), at("renamed"), true);
        assertThat(store.status(at("renamed")).id()).isEqualTo(id);
    }

    @Test
    void rename_ontoItself_doesNothing() throws Exception {
        long id = write(at("file"), "x");
        store.rename(at("file"), at("file"), false);
        store.rename(at("file"), at("file"), true);
        assertThat(store.status(at("file")).id()).isEqualTo(id);
        assertThat(outside(at("file"))).isEqualTo("x");
    }

    @Test
    void rename_intoItself_isEinval() throws Exception {
        store.makeDirectory(at("dir"), 0755, Map.of());
        assertFails(Errno.EINVAL, () -> store.rename(at("dir"), at("dir/below"), false));
        assertFails(Errno.EINVAL, () -> store.rename(at("dir"), at("dir/below"), true));
    }

    @Test
    void rename_ofMissing_isEnoentAndLeavesTheTarget() throws Exception {
        long id = write(at("there"), "x");
        assertFails(Errno.ENOENT, () -> store.rename(at("missing"), at("new"), false));
        assertFails(Errno.ENOENT, () -> store.rename(at("missing"), at("there"), true));
        assertThat(store.status(at("there")).id()).isEqualTo(id);
    }

    @Test
    void rename_toWhereNoDirectoryIs_fails() throws Exception {
        write(at("file"), "x");
        write(at("other"), "x");
        assertFails(Errno.ENOENT, () -> store.rename(at("file"), at("missing/new"), false));
        assertFails(Errno.EINVAL, () -> store.rename(at("file"), at("other/new"), false));
        assertThat(read(at("file"))).isEqualTo("x");
    }

    @Test
    void pathOf_deletedOrUnknown_isEnoent() throws Exception {
        long id = write(at("file"), "x");
        store.delete(at("file"));
        assertFails(Errno.ENOENT, () -> store.pathOf(id));
        assertFails(Errno.ENOENT, () -> store.pathOf(Long.MAX_VALUE >> 8));
    }

    @Test
    void pathOf_directoryAndRoot() throws Exception {
        assertThat(store.pathOf(store.status(at("")).id())).isEqualTo(at(""));
        assertThat(store.pathOf(store.status("/").id())).isEqualTo("/");
    }

    @Test
    void ids_areNotUsedAgain() throws Exception {
        long first = write(at("file"), "x");
        store.delete(at("file"));
        long second = write(at("file"), "x");
        assertThat(second).isGreaterThan(first);
        store.makeDirectory(at("dir"), 0755, Map.of());
        long directory = store.status(at("dir")).id();
        store.delete(at("dir"));
        store.makeDirectory(at("dir"), 0755, Map.of());
        assertThat(store.status(at("dir")).id()).isGreaterThan(directory);
    }
}
