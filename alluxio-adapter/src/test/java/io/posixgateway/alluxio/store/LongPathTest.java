package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Directories below each other, until Alluxio, the under file system or a reply of the master takes no longer paths. */
class LongPathTest {
    private static final String D = "d".repeat(200);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private static void assertTooLong(MemoryMount mount, Runnable work) {
        mount.faults().forgetCounts();
        assertThatThrownBy(work::run).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.ENAMETOOLONG));
        for (StoreCall call : new StoreCall[] {StoreCall.MAKE_DIRECTORY, StoreCall.CREATE, StoreCall.RENAME}) {
            assertThat(mount.faults().count(call)).as("%s", call).isZero();
        }
    }

    /** Makes directories below each other until the next is refused; returns the path of the last. */
    private static String fill(MemoryMount mount, String top, String name) {
        String path = top;
        mount.mkdir(path);
        for (int i = 0; i < 400; i++) {
            String next = path + "/" + name;
            try {
                mount.mkdir(next);
            } catch (FuseFailure e) {
                assertThat(e.errno()).isEqualTo(Errno.ENAMETOOLONG);
                return path;
            }
            path = next;
        }
        throw new AssertionError("no end");
    }

    @ParameterizedTest
    @CsvSource({"LOCAL, CACHE_THROUGH, 4095", "OBJECT_STORE, CACHE_THROUGH, 1023", "LOCAL, MUST_CACHE, 7900"})
    void directories_belowEachOther_endWithEnametoolong(MemoryUfs.Kind kind, WriteType type, int most) {
        MemoryCluster deep = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(deep.connect(type))
                .with("write_type", type.name())
                .open()) {
            String path = fill(mount, "/top", D);
            assertThat(path.length()).isBetween(most - 13 - 201 - 48, most);
            String above = path.substring(0, path.lastIndexOf('/'));
            mount.write(above + "/f", "x");
            assertThat(mount.read(above + "/f")).isEqualTo("x");
            assertTooLong(mount, () -> mount.mkdir(path + "/" + D));
            assertTooLong(mount, () -> mount.write(path + "/" + D, "x"));
            assertTooLong(
                    mount, () -> mount.requests().symlink(mount.lookup(path).id(), D, "x"));
            mount.write("/file", "x");
            assertTooLong(mount, () -> mount.rename("/file", path + "/" + D));
            mount.mkdir("/directory");
            assertTooLong(mount, () -> mount.rename("/directory", path + "/" + D));
            assertThat(mount.exists("/file")).isTrue();
            assertThat(mount.list(path)).isEmpty();
        }
    }

    @Test
    void directories_withNamesThatAnswersEscape_endEarlier() {
        try (MemoryMount mount = MemoryMount.of(cluster.connect(WriteType.MUST_CACHE))
                .with("write_type", "MUST_CACHE")
                .open()) {
            String path = fill(mount, "/top", "é".repeat(100));
            assertThat(path.getBytes(StandardCharsets.UTF_8).length).isBetween(2300, 2633);
            assertThat(mount.exists(path + "/missing")).isFalse();
        }
    }

    @Test
    void deletedFile_inTheDeepestDirectory_staysReadable() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            String path = fill(mount, "/top", "d".repeat(20));
            path = path.substring(0, path.length() - 3 * 21); // up to here there is room for a file
            mount.write(path + "/f", "text");
            try (MemoryMount.OpenFile open = mount.open(path + "/f")) {
                mount.unlink(path + "/f");
                assertThat(open.readText()).isEqualTo("text");
            }
            mount.write(path + "/g", "old");
            mount.write(path + "/g", "new");
            assertThat(mount.read(path + "/g")).isEqualTo("new");
        }
    }

    @Test
    void renameOfDirectory_whoseFilesWouldBeTooDeep_isRefused() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            String path = fill(mount, "/top", D);
            mount.write(path + "/f", "x");
            assertTooLong(mount, () -> mount.rename("/top", "/" + D));
            assertThat(mount.read(path + "/f")).isEqualTo("x");
            mount.rename("/top", "/tip");
            assertThat(mount.read(path.replace("/top", "/tip") + "/f")).isEqualTo("x");
        }
    }

    @Test
    void renameOfDirectory_thatThisMountNeverLookedAt_isRefusedToo() {
        String path;
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            path = fill(mount, "/top", D);
            mount.write("/top/beside", "x");
        }
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            assertTooLong(mount, () -> mount.rename("/top", "/" + D));
            assertThat(mount.exists(path)).isTrue();
        }
    }

    @Test
    void renameOfDirectory_thatThisMountMade_asksForNothingMore() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/a");
            mount.mkdir("/a/b");
            mount.write("/a/b/file", "x");
            mount.lookup("/a");
            mount.faults().forgetCounts();
            mount.rename("/a", "/longer");
            assertThat(mount.faults().count(StoreCall.LIST)).isZero();
            assertThat(mount.read("/longer/b/file")).isEqualTo("x");
        }
    }
}
