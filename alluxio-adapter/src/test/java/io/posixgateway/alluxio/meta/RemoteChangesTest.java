package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.FuseRequests.Opened;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Stat;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever one mount changes is seen by another when its time to live is over, by its kernel, too. */
class RemoteChangesTest {
    private static final Duration TTL = Duration.ofSeconds(1);
    private static final Duration PART = Duration.ofMillis(600);
    private static final int TRIES = 3;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private MemoryMount here;
    private View there;

    @BeforeEach
    void mountTwice() {
        here = mount();
        there = new View(mount());
    }

    @AfterEach
    void unmount() {
        here.close();
        there.mount.close();
    }

    private MemoryMount mount() {
        return MemoryMount.of(cluster.connect())
                .with("consistency", "ttl")
                .with("metadata_ttl", "1s")
                .open();
    }

    /** A mount as seen through a kernel that keeps pages, and remembers how long it was allowed to believe what it was told. */
    private static final class View {
        final MemoryMount mount;
        private final Map<Long, String> pages = new HashMap<>();
        private Duration believes = Duration.ZERO;

        View(MemoryMount mount) {
            this.mount = mount;
        }

        /** Id 0: nothing is there. */
        FuseNode node(String name) {
            try {
                FuseNode node = mount.requests().lookup(FuseRequests.ROOT, name);
                believe(node.nameValid());
                believe(node.id() == 0 ? Duration.ZERO : node.attributesValid());
                return node;
            } catch (FuseFailure e) {
                assertThat(e.errno()).isEqualTo(Errno.ENOENT);
                return new FuseNode(0, Duration.ZERO, Duration.ZERO, 0, 0, 0, 0, 0);
            }
        }

        private void believe(Duration valid) {
            believes = believes.compareTo(valid) > 0 ? believes : valid;
        }

        boolean has(String name) {
            return node(name).id() != 0;
        }

        String content(String name) {
            FuseNode node = node(name);
            Opened file = mount.requests().open(node, Stat.O_RDONLY);
            if ((file.flags() & OpenReply.KEEP_CACHE) == 0) {
                pages.remove(node.id());
            }
            try {
                return pages.computeIfAbsent(node.id(), id -> read(file));
            } catch (FuseFailure e) {
                assertThat(e.errno()).as("others removed it").isEqualTo(Errno.ESTALE);
                return "";
            } finally {
                mount.requests().release(file);
            }
        }

        private String read(Opened file) {
            return new String(mount.requests().read(file, 0, 100), StandardCharsets.UTF_8);
        }

        boolean lists(String name) {
            Opened directory = mount.requests().opendir(mount.requests().getattr(FuseRequests.ROOT));
            assertThat(directory.flags() & OpenReply.CACHE_DIR).isZero();
            mount.requests().releasedir(directory);
            return mount.list("/").contains(name);
        }

        String xattr(String name) {
            try {
                return mount.requests().getxattr(node(name).id(), "user.seen");
            } catch (FuseFailure e) {
                assertThat(e.errno()).isEqualTo(Errno.ENODATA);
                return "";
            }
        }

        String target(String name) {
            FuseNode node = node(name);
            return node.id() == 0 ? "" : mount.requests().readlink(node.id());
        }
    }

    /** Makes, with this number, what a case needs, or its change. */
    private interface Step {
        void run(MemoryMount mount, int number);
    }

    /** Is the change of this number seen? */
    private interface Look {
        boolean sees(View view, int number);
    }

    private record Case(String what, Step prepare, Step change, Look look) {
        @Override
        public String toString() {
            return what;
        }
    }

    private static Step file(String name) {
        return (mount, i) -> mount.write(name + i, "before");
    }

    private static long id(MemoryMount mount, String name) {
        return mount.lookup(name).id();
    }

    private static void link(MemoryMount mount, String name, String target) {
        mount.requests().symlink(FuseRequests.ROOT, name, target);
    }

    static Stream<Case> changes() {
        Step nothing = (mount, i) -> {};
        return Stream.of(
                new Case("a new file", nothing, (m, i) -> m.write("/n" + i, ""), (v, i) -> v.has("n" + i)),
                new Case("its listing", nothing, (m, i) -> m.write("/l" + i, ""), (v, i) -> v.lists("l" + i)),
                new Case("content", file("/f"), (m, i) -> m.write("/f" + i, "after"), (v, i) -> v.content("f" + i)
                        .equals("after")),
                new Case(
                        "content of the same length",
                        file("/f"),
                        (m, i) -> m.write("/f" + i, "behind"),
                        (v, i) -> v.content("f" + i).equals("behind")),
                new Case(
                        "a size",
                        file("/f"),
                        (m, i) -> m.write("/f" + i, "a longer one"),
                        (v, i) -> v.node("f" + i).lengthBytes() == 12),
                new Case(
                        "a renaming",
                        file("/f"),
                        (m, i) -> m.rename("/f" + i, "/g" + i),
                        (v, i) -> v.has("g" + i) && !v.has("f" + i)),
                new Case("a removal", file("/f"), (m, i) -> m.unlink("/f" + i), (v, i) -> !v.has("f" + i)),
                new Case("a folder", nothing, (m, i) -> m.mkdir("/d" + i), (v, i) -> v.has("d" + i)),
                new Case(
                        "the end of a folder",
                        (m, i) -> m.mkdir("/d" + i),
                        (m, i) -> m.rmdir("/d" + i),
                        (v, i) -> !v.has("d" + i)),
                new Case(
                        "where a link leads",
                        (m, i) -> link(m, "s" + i, "before"),
                        (m, i) -> {
                            m.unlink("/s" + i);
                            link(m, "s" + i, "after");
                        },
                        (v, i) -> v.target("s" + i).equals("after")));
    }

    static Stream<Case> attributes() {
        return Stream.of(
                new Case(
                        "a mode",
                        file("/f"),
                        (m, i) -> m.requests().chmod(id(m, "/f" + i), 0640),
                        (v, i) -> (v.node("f" + i).mode() & 0777) == 0640),
                new Case(
                        "an owner",
                        file("/f"),
                        (m, i) -> m.requests().chown(id(m, "/f" + i), 2000 + i),
                        (v, i) -> v.node("f" + i).uid() == 2000 + i),
                new Case(
                        "a time",
                        file("/f"),
                        (m, i) -> m.requests().setModified(id(m, "/f" + i), Duration.ofMillis(1000 + i)),
                        (v, i) -> v.node("f" + i).modifiedMillis() == 1000 + i),
                new Case(
                        "a cut",
                        file("/f"),
                        (m, i) -> m.requests().truncate(id(m, "/f" + i), 2),
                        (v, i) -> v.node("f" + i).lengthBytes() == 2),
                new Case(
                        "an extended attribute",
                        file("/f"),
                        (m, i) -> m.requests().setxattr(id(m, "/f" + i), "user.seen", "value" + i),
                        (v, i) -> v.xattr("f" + i).equals("value" + i)));
    }

    @ParameterizedTest
    @MethodSource({"changes", "attributes"})
    void change_afterTtl_isSeenByOtherMount(Case each) {
        for (int i = 0; i < TRIES; i++) {
            each.prepare.run(here, i);
        }
        cluster.clock().advance(TTL);
        for (int i = 0; i < TRIES; i++) {
            looksAndMustNotBelieveLongerThan(TTL, each, i);
            assertThat(each.look.sees(there, i)).as("before it is made").isFalse();
            each.change.run(here, i);
            cluster.clock().advance(PART);
            looksAndMustNotBelieveLongerThan(TTL.minus(PART), each, i);
            cluster.clock().advance(TTL.minus(PART));
            assertThat(each.look.sees(there, i)).as("when the time is over").isTrue();
        }
    }

    /** The change may be seen early; else the kernel must ask again in time. */
    private void looksAndMustNotBelieveLongerThan(Duration most, Case each, int number) {
        there.believes = Duration.ZERO;
        if (!each.look.sees(there, number)) {
            assertThat(there.believes).as("believed by the kernel").isLessThanOrEqualTo(most);
        }
    }

    /** What is believed costs nothing, however often it is looked at. */
    @ParameterizedTest
    @MethodSource("attributes")
    void look_withinTtl_asksNobody(Case each) {
        each.prepare.run(here, 0);
        each.look.sees(there, 0);
        there.mount.faults().forgetCounts();
        cluster.clock().advance(TTL.minusNanos(1));
        assertThat(each.look.sees(there, 0)).isFalse();
        assertThat(there.mount.faults().counts()).isEmpty();
        assertThat(List.of(there.node("f0").nameValid(), there.node("f0").attributesValid()))
                .containsOnly(Duration.ofNanos(1));
    }
}
