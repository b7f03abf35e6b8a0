package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseRequests.Place;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that Alluxio cannot hold, through every operation. A char U+DC80 to U+DCFF in a test's name is one byte that is no UTF-8. */
class EscapedNamesTest {
    private static final long SEED = 35;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryMount mount = MemoryMount.of(cluster);
    private final MemoryMount other =
            MemoryMount.of(cluster.connect()).with("metadata_ttl", "0").open();

    @AfterEach
    void unmount() {
        mount.close();
        other.close();
    }

    private static void assertErrno(int errno, Runnable work) {
        assertThatThrownBy(work::run).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(errno));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "what?",
                "?",
                "back\\slash",
                "\\",
                "..\\..\\x",
                "a\uDCFF",
                "\uDCE9t\uDCE9",
                "\uDCED\uDCB2\uDC80",
                "\uDCC0\uDCAF",
                "%pgw%what%3F",
                "%pgw%%25pgw%25what%253F",
                "%pgw%zz",
                "\uFFFD",
                "100%",
                "%3F"
            })
    void everyOperation_takesTheName(String name) {
        mount.write("/" + name, "x");
        mount.mkdir("/" + name + ".d");
        mount.write("/" + name + ".d/" + name, "below");
        mount.rename("/" + name, "/" + name + "2");
        assertThat(mount.list("/")).containsExactlyInAnyOrder(name + "2", name + ".d");
        assertThat(other.list("/")).containsExactlyInAnyOrder(name + "2", name + ".d");
        assertThat(mount.read("/" + name + "2")).isEqualTo("x");
        assertThat(other.read("/" + name + ".d/" + name)).isEqualTo("below");
        assertThat(mount.exists("/" + name)).isFalse();
        mount.rename("/" + name + ".d", "/" + name);
        assertThat(other.read("/" + name + "/" + name)).isEqualTo("below");
        mount.write("/over", "y");
        mount.rename("/over", "/" + name + "2");
        assertThat(other.read("/" + name + "2")).isEqualTo("y");
        mount.unlink("/" + name + "/" + name);
        mount.rmdir("/" + name);
        mount.unlink("/" + name + "2");
        assertThat(other.list("/")).isEmpty();
        assertThat(cluster.ufs().list("/")).isEmpty();
    }

    @Test
    void storedName_isPlainTextForOtherClients() {
        mount.mkdir("/what?");
        mount.write("/what?/a\uDCFF", "x");
        assertThat(cluster.ufs().read("/%pgw%what%3F/%pgw%a%FF")).asString().isEqualTo("x");
    }

    @Test
    void nameWithQuestionMark_isNotTheNameBeforeIt() {
        mount.write("/a", "x");
        assertThat(mount.exists("/a?b")).isFalse();
        assertErrno(Errno.ENOENT, () -> mount.unlink("/a?b"));
        assertThat(mount.read("/a")).isEqualTo("x");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "%pgw%",
                "%pgw%zz",
                "%pgw%%3f",
                "%pgw%a%2Fb%3F",
                "%pgw%%2E%2E",
                "%pgw%plain",
                "%pgw%%41%3F",
                "%3F",
                "\uFFFD"
            })
    void nameOfAnotherClient_thatIsNoEscape_isShownAsItIs(String name) {
        cluster.ufs().write("/" + name, "x".getBytes(StandardCharsets.UTF_8));
        assertThat(mount.list("/")).containsExactly(name);
        assertThat(mount.read("/" + name)).isEqualTo("x");
        mount.unlink("/" + name);
        assertThat(cluster.ufs().list("/")).isEmpty();
    }

    @Test
    void nameThatIsTooLongEscaped_isRefusedBeforeAnythingIsDone() {
        mount.write("/file", "x");
        mount.mkdir("/dir");
        mount.faults().forgetCounts();
        String name = "x".repeat(248) + "?";
        assertErrno(Errno.ENAMETOOLONG, () -> mount.write("/" + name, "x"));
        assertErrno(Errno.ENAMETOOLONG, () -> mount.mkdir("/" + name));
        assertErrno(Errno.ENAMETOOLONG, () -> mount.lookup("/" + name));
        assertErrno(Errno.ENAMETOOLONG, () -> mount.rename("/file", "/" + name));
        assertErrno(Errno.ENAMETOOLONG, () -> mount.rename("/dir", "/" + name));
        assertErrno(Errno.ENAMETOOLONG, () -> mount.requests().symlink(FuseRequests.ROOT, name, "x"));
        assertThat(mount.faults().count(StoreCall.RENAME)).isZero();
        assertThat(mount.faults().count(StoreCall.CREATE)).isZero();
        assertThat(mount.list("/")).containsExactlyInAnyOrder("file", "dir");
        mount.write("/" + name.substring(1), "x");
        assertThat(other.read("/" + name.substring(1))).isEqualTo("x");
    }

    @Test
    void strict_refusesTheNames_andShowsWhatIsStored() {
        mount.write("/what?", "x");
        try (MemoryMount strict =
                MemoryMount.of(cluster.connect()).with("names", "strict").open()) {
            assertThat(strict.list("/")).containsExactly("%pgw%what%3F");
            assertThat(strict.read("/%pgw%what%3F")).isEqualTo("x");
            strict.write("/good", "x");
            for (String name : List.of("what?", "a\\b", "a\uDCFF")) {
                assertThat(strict.exists("/" + name)).isFalse();
                assertErrno(Errno.EINVAL, () -> strict.write("/" + name, "x"));
                assertErrno(Errno.EINVAL, () -> strict.mkdir("/" + name));
                assertErrno(Errno.EINVAL, () -> strict.rename("/good", "/" + name));
            }
            strict.write("/\uFFFD", "x");
            assertThat(strict.list("/")).containsExactlyInAnyOrder("%pgw%what%3F", "good", "\uFFFD");
        }
    }

    @Test
    void deletedFile_staysReadableUnderAHiddenName() {
        mount.mkdir("/what?");
        mount.write("/what?/a\uDCFF", "text");
        try (MemoryMount.OpenFile open = mount.open("/what?/a\uDCFF")) {
            mount.unlink("/what?/a\uDCFF");
            mount.rmdir("/what?");
            assertThat(open.readText()).isEqualTo("text");
        }
    }

    @Test
    void symlinkAndXattrs_holdAnyBytes() {
        long link = mount.requests()
                .symlink(FuseRequests.ROOT, "l\uDCFF", "to?\\\uDCFE")
                .id();
        assertThat(mount.requests().readlink(link)).isEqualTo("to?\\\uDCFE");
        assertThat(other.requests().readlink(other.lookup("/l\uDCFF").id())).isEqualTo("to?\\\uDCFE");
        mount.write("/file", "x");
        long file = mount.lookup("/file").id();
        List<String> names = List.of("user.a?b\\c", "user.\uDCFE", "user.\uDCFF", "user.\uFFFD", "user.%pgw%");
        for (String name : names) {
            mount.requests().setxattr(file, name, "\uDCFF of " + name);
        }
        assertThat(mount.requests().listxattr(file)).containsExactlyInAnyOrderElementsOf(names);
        cluster.clock().advance(Duration.ofMinutes(1));
        for (String name : names) {
            assertThat(mount.requests().getxattr(file, name)).isEqualTo("\uDCFF of " + name);
        }
    }

    @Test
    void invalidateAndInfo_takeNamesAsShownAndAsStored() throws Exception {
        mount.mkdir("/what?");
        mount.write("/what?/a\uDCFF", "x");
        assertThat(mount.fileSystem().inspect("/what?/%pgw%a%FF").alluxioPath()).isEqualTo("/%pgw%what%3F/%pgw%a%FF");
        assertThat(mount.fileSystem().inspect("/%pgw%what%3F/%pgw%a%FF").node())
                .isEqualTo(mount.lookup("/what?/a\uDCFF").id());
        assertThat(mount.fileSystem().invalidate("/what?/%pgw%a%FF")).isPositive();
        assertThat(mount.fileSystem().invalidate("/%pgw%what%3F")).isGreaterThan(1);
    }

    @Test
    void mountOfTheDirectory_takesItsNameAsShownAndAsStored() {
        mount.mkdir("/what?");
        mount.write("/what?/file", "x");
        for (String path : List.of("/what?", "/%pgw%what%3F")) {
            try (MemoryMount below = MemoryMount.of(cluster.connect()).at(path).open()) {
                assertThat(below.read("/file")).isEqualTo("x");
            }
        }
    }

    @Test
    void listing_ofManyNames_continuesBehindEachOfThem() {
        Random random = new Random(SEED);
        Map<String, String> names = new TreeMap<>();
        while (names.size() < 2500) {
            String name =
                    List.of("a", "%", "%pgw%", "z", "~", "\uDCFF", "?", "\\").get(random.nextInt(8))
                            + random.nextInt(100_000);
            names.putIfAbsent(name, NameCodec.ESCAPED.stored(io.posixgateway.fuse.dispatch.Message.bytes(name)));
        }
        names.values().forEach(stored -> cluster.ufs().write("/" + stored, new byte[1]));
        FuseRequests requests = mount.requests();
        FuseRequests.Opened directory = requests.opendir(requests.getattr(FuseRequests.ROOT));
        List<String> all = new ArrayList<>();
        long offset = 0;
        List<FuseRequests.Listed> part = requests.readdir(directory, offset, 700);
        while (!part.isEmpty()) {
            part.forEach(each -> all.add(each.name()));
            offset = part.get(part.size() - 1).nextOffset();
            if (random.nextInt(20) == 0) { // as by another process, which knows the place by its node alone
                requests.releasedir(directory);
                directory = requests.opendir(requests.getattr(FuseRequests.ROOT));
            }
            part = requests.readdir(directory, offset, 700);
        }
        all.removeAll(List.of(".", ".."));
        assertThat(all).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(names.keySet());
    }

    @Test
    void nextProcess_findsDirtyFilesAndNodesOfSuchNames(@TempDir Path folder) {
        MemoryMount before = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("1"), null);
        before.mkdir("/d?");
        MemoryMount.OpenFile open = before.create("/d?/a\uDCFF");
        open.write("text");
        before.kill();
        try (MemoryMount after = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("2"), before)) {
            after.inherited(open).close();
            assertThat(after.list("/d?")).containsExactly("a\uDCFF");
            assertThat(other.read("/d?/a\uDCFF")).isEqualTo("text");
        }
    }

    @Test
    void rename_ofOthers_isFoundByItsFile() {
        mount.mkdir("/d?");
        mount.write("/d?/a\uDCFF", "text");
        long node = mount.lookup("/d?/a\uDCFF").id();
        other.rename("/d?", "/e\\");
        cluster.clock().advance(Duration.ofMinutes(1));
        assertThat(mount.requests().getattr(node).lengthBytes()).isEqualTo(4);
        mount.requests().rename(new Place(mount.lookup("/e\\").id(), "a\uDCFF"), new Place(FuseRequests.ROOT, "b?"), 0);
        assertThat(other.read("/b?")).isEqualTo("text");
    }
}
