package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A name that no program replaced keeps its inode number, and no two files have one. */
class InodeNumbersTest {
    private static final Duration LONGER_THAN_NAMES_LIVE = Duration.ofSeconds(10);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private static long number(MemoryMount mount, String path) {
        return mount.stat(path).inode();
    }

    /** As it is listed. */
    private static long listed(MemoryMount mount, String name) {
        FuseRequests.Opened root = mount.requests().opendir(mount.lookup("/"));
        List<FuseRequests.Listed> all = new ArrayList<>();
        List<FuseRequests.Listed> part = mount.requests().readdir(root, 0);
        while (!part.isEmpty()) {
            all.addAll(part);
            part = mount.requests().readdir(root, part.get(part.size() - 1).nextOffset());
        }
        mount.requests().releasedir(root);
        return all.stream()
                .filter(entry -> entry.name().equals(name))
                .findFirst()
                .orElseThrow()
                .inode();
    }

    private static void append(MemoryMount mount, String path, String text) {
        try (OpenFile file = mount.openToWrite(path)) {
            file.write(file.lengthBytes(), text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        }
    }

    @Test
    void number_ofFileThatIsAppendedOverwrittenOrCut_staysWhenTheKernelForgotIt() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            for (String name : List.of("/appended", "/overwritten", "/cut", "/emptied")) {
                mount.write(name, "text");
            }
            Set<Long> numbers = new HashSet<>();
            for (int round = 0; round < 3; round++) {
                long appended = number(mount, "/appended");
                long overwritten = number(mount, "/overwritten");
                long cut = number(mount, "/cut");
                long emptied = number(mount, "/emptied");
                numbers.addAll(List.of(appended, overwritten, cut, emptied));
                append(mount, "/appended", "more");
                mount.write("/overwritten", "other");
                mount.truncate("/cut", 2);
                mount.truncate("/emptied", 0);
                assertThat(number(mount, "/appended")).isEqualTo(appended);
                mount.dropCaches();
                assertThat(number(mount, "/appended")).isEqualTo(appended);
                assertThat(listed(mount, "appended")).isEqualTo(appended);
                assertThat(number(mount, "/overwritten")).isEqualTo(overwritten);
                assertThat(number(mount, "/cut")).isEqualTo(cut);
                assertThat(number(mount, "/emptied")).isEqualTo(emptied);
            }
            assertThat(numbers).hasSize(4);
        }
    }

    @Test
    void number_ofFileThatAProgramReplaced_isThatOfTheOther() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", "text");
            mount.write("/file", "more");
            mount.write("/other", "text");
            mount.write("/other", "more");
            long first = number(mount, "/file");
            long other = number(mount, "/other");
            mount.rename("/other", "/file");
            mount.dropCaches();
            assertThat(number(mount, "/file")).isEqualTo(other).isNotEqualTo(first);
        }
    }

    @Test
    void number_ofFileThatOtherMountChanges_stays() {
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount other = MemoryMount.of(cluster)) {
            mount.write("/file", "text");
            mount.write("/file", "more");
            long number = number(mount, "/file");
            for (int i = 0; i < 3; i++) {
                append(i % 2 == 0 ? other : mount, "/file", "x");
                cluster.clock().advance(LONGER_THAN_NAMES_LIVE);
                assertThat(number(mount, "/file")).isEqualTo(number);
                assertThat(number(other, "/file")).isEqualTo(number);
                mount.dropCaches();
                assertThat(number(mount, "/file")).isEqualTo(number);
            }
        }
    }

    /** As {@code tail -F} and other followers ask for it. */
    @Test
    void number_ofFileThatAProgramOnAnotherMountReplaced_isThatOfTheOther() {
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount other = MemoryMount.of(cluster)) {
            mount.write("/file", "text");
            long number = number(mount, "/file");
            other.write("/new", "longer text");
            long replacement = number(other, "/new");
            other.rename("/new", "/file");
            cluster.clock().advance(LONGER_THAN_NAMES_LIVE);
            FuseNode known = mount.lookup("/file");
            assertThat(mount.read("/file")).isEqualTo("longer text");
            assertThat(known.inode()).isEqualTo(replacement).isNotEqualTo(number);
            append(other, "/file", "x");
            cluster.clock().advance(LONGER_THAN_NAMES_LIVE);
            assertThat(number(mount, "/file")).isEqualTo(replacement);
        }
    }

    /** Known to the kernel by its node, as a file that it has open. */
    @Test
    void number_ofNodeWhoseFileAProgramOnAnotherMountReplaced_isThatOfTheOther() {
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount other = MemoryMount.of(cluster)) {
            mount.write("/file", "text");
            FuseNode node = mount.lookup("/file");
            other.write("/new", "longer text");
            long replacement = number(other, "/new");
            other.rename("/new", "/file");
            cluster.clock().advance(LONGER_THAN_NAMES_LIVE);
            assertThat(mount.requests().getattr(node.id()).inode()).isEqualTo(replacement);
            append(other, "/file", "x");
            cluster.clock().advance(LONGER_THAN_NAMES_LIVE);
            assertThat(mount.requests().getattr(node.id()).inode()).isEqualTo(replacement);
        }
    }

    @Test
    void number_ofFileThatIsOverwritten_staysHoweverManyWereBefore() {
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect()).with("cache_entries", "1000").open()) {
            mount.write("/first", "text");
            mount.write("/first", "more");
            long first = number(mount, "/first");
            for (int i = 0; i < 2100; i++) {
                mount.write("/file" + i, "text");
                mount.write("/file" + i, "more");
                if (i % 2 == 0) {
                    mount.unlink("/file" + i);
                }
            }
            mount.dropCaches();
            mount.write("/last", "text");
            long last = number(mount, "/last");
            mount.write("/last", "more");
            mount.dropCaches();
            mount.fileSystem().invalidate("/");
            mount.write("/other", "text");
            mount.dropCaches();
            assertThat(number(mount, "/last")).isEqualTo(last);
            assertThat(number(mount, "/first")).isEqualTo(first);
        }
    }

    /** As the S3 proxy of Alluxio does, which copies all attributes. */
    private void copyByOtherClient(String from, String to) throws StoreException {
        MemoryStore plain = cluster.connect();
        Map<String, byte[]> attributes = plain.status(from).xattrs();
        StoreWriter sink = plain.create(to, 0644, attributes, UUID.randomUUID());
        sink.write("copy".getBytes(java.nio.charset.StandardCharsets.UTF_8), 0, 4);
        sink.complete();
    }

    @Test
    void number_ofFileThatOthersCopiedWithItsAttributes_isItsOwn() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", "text");
            mount.write("/file", "more");
            long number = number(mount, "/file");
            copyByOtherClient("/file", "/a-copy");
            cluster.clock().advance(LONGER_THAN_NAMES_LIVE);
            long copy = number(mount, "/a-copy");
            assertThat(copy).isNotEqualTo(number);
            for (int i = 0; i < 2; i++) {
                mount.dropCaches();
                cluster.clock().advance(LONGER_THAN_NAMES_LIVE);
                assertThat(number(mount, "/a-copy")).isEqualTo(copy);
                assertThat(number(mount, "/file")).isEqualTo(number);
                assertThat(listed(mount, "a-copy")).isEqualTo(copy);
            }
            append(mount, "/a-copy", "more");
            mount.dropCaches();
            assertThat(number(mount, "/a-copy")).isEqualTo(copy);
            assertThat(number(mount, "/file")).isEqualTo(number);
        }
    }

    /** The next process sees the copy first. */
    @Test
    void number_ofCopyThatIsSeenFirst_isNotThatOfTheFileAsWell() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", "text");
            mount.write("/file", "more");
        }
        copyByOtherClient("/file", "/a-copy");
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            long copy = number(mount, "/a-copy");
            mount.dropCaches();
            mount.fileSystem().invalidate("/");
            long file = number(mount, "/file");
            assertThat(file).isNotEqualTo(copy);
            mount.dropCaches();
            assertThat(number(mount, "/file")).isEqualTo(file);
            assertThat(number(mount, "/a-copy")).isEqualTo(copy);
        }
    }

    /** Others move the file at the moment at which its new content takes its place: both live. Seen by those who mount later. */
    @Test
    void number_ofFileThatOthersMovedWhileItWasReplaced_isNotThatOfBothLater() throws Exception {
        MemoryStore plain = cluster.connect();
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", "text");
            long number = number(mount, "/file");
            mount.faults().on(StoreCall.RENAME).before(() -> {
                try {
                    plain.rename("/file", "/moved", false);
                } catch (StoreException e) {
                    throw new IllegalStateException(e);
                }
            });
            mount.write("/file", "more");
            assertThat(number(mount, "/file")).isEqualTo(number);
        }
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            long moved = number(mount, "/moved");
            assertThat(number(mount, "/file")).isNotEqualTo(moved);
        }
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            long file = number(mount, "/file");
            assertThat(number(mount, "/moved")).isNotEqualTo(file);
        }
    }
}
