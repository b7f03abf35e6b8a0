package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.spi.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Alluxio has no hard links; programs fall back on the errno that says so. */
class HardLinkTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private static void assertRefused(MemoryMount mount, int errno) {
        mount.write("/f", "text");
        long root = mount.lookup("/").id();
        assertThatThrownBy(() -> mount.requests().link(mount.lookup("/f").id(), root, "g"))
                .isInstanceOfSatisfying(
                        FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(errno));
        assertThat(mount.list("/")).containsExactly("f");
    }

    @Test
    void link_isNotSupported() {
        try (MemoryMount mount = MemoryMount.of(cluster.connect()).open()) {
            assertRefused(mount, Errno.EOPNOTSUPP);
        }
    }

    @ParameterizedTest
    @CsvSource({"EOPNOTSUPP, 95", "EXDEV, 18", "EPERM, 1"})
    void link_withAnotherErrno_answersIt(String name, int errno) {
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect()).with("link_errno", name).open()) {
            assertRefused(mount, errno);
        }
    }
}
