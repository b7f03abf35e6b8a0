package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.ManualClock;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PathMapTest {
    private final InodeTable table = new InodeTable(
            "/mounted", 1, 1000, new MemoryAccounting(Long.MAX_VALUE), NameCodec.ESCAPED, new ManualClock());
    private final PathMap<String> values = new PathMap<>(
            "everywhere",
            "nowhere",
            Map.of("/data", "data", "/data/new/raw", "raw", "/data/new/raw/a", "a", "/d", "d"));
    private long ids = 100;

    private Inode add(Inode directory, String name, boolean isDirectory) {
        Inode inode = table.of(ids++, isDirectory);
        table.attach(directory, Name.of(name), inode, 0);
        return inode;
    }

    private Inode walk(String... names) {
        Inode at = table.root();
        for (String name : names) {
            Inode known = table.child(at, Name.of(name));
            at = known == null ? add(at, name, true) : known;
        }
        return at;
    }

    @Test
    void theLongestPathOfWholeNamesCounts() {
        assertThat(values.of(table.root())).isEqualTo("everywhere");
        assertThat(values.of(walk("database"))).isEqualTo("everywhere");
        assertThat(values.of(walk("other", "data", "new", "raw"))).isEqualTo("everywhere");
        assertThat(values.of(walk("d"))).isEqualTo("d");
        assertThat(values.of(walk("data"))).isEqualTo("data");
        assertThat(values.of(walk("data", "new"))).isEqualTo("data");
        assertThat(values.of(walk("data", "new", "rawer"))).isEqualTo("data");
        assertThat(values.of(walk("data", "raw", "a"))).isEqualTo("data");
        assertThat(values.of(walk("data", "new", "raw"))).isEqualTo("raw");
        assertThat(values.of(walk("data", "new", "raw", "b", "a"))).isEqualTo("raw");
        assertThat(values.of(walk("data", "new", "raw", "a"))).isEqualTo("a");
        assertThat(values.of(walk("data", "new", "raw", "a", "1", "2", "3", "4")))
                .isEqualTo("a");
    }

    @Test
    void aNameThatNothingHasIsOfItsPath() {
        assertThat(values.of(table.root(), Name.of("data"))).isEqualTo("data");
        assertThat(values.of(table.root(), Name.of("dat"))).isEqualTo("everywhere");
        assertThat(values.of(walk("data", "new"), Name.of("raw"))).isEqualTo("raw");
        assertThat(values.of(walk("data", "new", "raw", "a", "b"), Name.of("a")))
                .isEqualTo("a");
    }

    @Test
    void whatMovesIsOfItsNewPathAtOnce() {
        Inode directory = walk("data", "new", "raw", "a");
        Inode file = add(walk("data", "new", "raw", "a", "deep"), "file", false);
        assertThat(values.of(file)).isEqualTo("a");
        table.attach(walk("other"), Name.of("a"), directory, 1);
        assertThat(values.of(file)).isEqualTo("everywhere");
        table.attach(table.root(), Name.of("d"), directory, 2);
        assertThat(values.of(file)).isEqualTo("d");
        table.detach(directory);
        assertThat(values.of(file)).isEqualTo("nowhere");
    }

    @Test
    void twoNamesDifferWhereAnythingBelowThemMay() {
        Inode data = walk("data");
        Inode root = table.root();
        assertThat(values.differs(data, Name.of("x"), data, Name.of("y"))).isFalse();
        assertThat(values.differs(root, Name.of("x"), root, Name.of("y"))).isFalse();
        assertThat(values.differs(root, Name.of("x"), data, Name.of("x"))).isTrue();
        assertThat(values.differs(data, Name.of("new"), data, Name.of("y"))).isTrue();
        assertThat(values.differs(data, Name.of("y"), data, Name.of("new"))).isTrue();
    }

    @Test
    void nothingIsAllocated() {
        Inode deep = walk("data", "new", "raw", "a", "1", "2", "3", "4");
        Name name = Name.of("name");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int found = find(deep, name);
        long before = threads.getCurrentThreadAllocatedBytes();
        found += find(deep, name);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
        assertThat(found).isEqualTo(2 * 100_000);
    }

    private int find(Inode deep, Name name) {
        int found = 0;
        for (int i = 0; i < 100_000; i++) {
            found += values.of(deep).length() * values.of(deep, name).length();
        }
        return found;
    }
}
