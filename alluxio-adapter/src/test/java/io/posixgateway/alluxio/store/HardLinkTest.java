package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.spi.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Alluxio has no hard links; programs fall back on the errno that suits what they link for. */
class HardLinkTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private static void assertRefused(MemoryMount mount, String file, String directory, int errno) {
        long to = mount.lookup(directory).id();
        assertThatThrownBy(() -> mount.requests().link(mount.lookup(file).id(), to, "link"))
                .as("%s to %s", file, directory)
                .isInstanceOfSatisfying(
                        FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(errno));
        assertThat(mount.list(directory)).doesNotContain("link");
    }

    /** As Python's mailbox and locks of mail boxes do, which rename then, and dpkg. */
    @Test
    void link_besideTheFile_orWithinAMaildir_isNotPermitted() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            for (String directory : new String[] {"/mail", "/mail/tmp", "/mail/new", "/mail/cur"}) {
                mount.mkdir(directory);
            }
            mount.write("/f", "text");
            mount.write("/mail/tmp/f", "text");
            assertRefused(mount, "/f", "/", Errno.EPERM);
            assertRefused(mount, "/mail/tmp/f", "/mail/tmp", Errno.EPERM);
            assertRefused(mount, "/mail/tmp/f", "/mail/new", Errno.EPERM);
            assertRefused(mount, "/mail/tmp/f", "/mail/cur", Errno.EPERM);
        }
    }

    /** As RocksDB does, which copies then. */
    @Test
    void link_intoAnotherDirectory_isNotSupported() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            for (String directory : new String[] {"/db", "/db/new", "/checkpoint", "/tmp"}) {
                mount.mkdir(directory);
            }
            mount.write("/db/f", "text");
            mount.write("/db/new/f", "text");
            mount.write("/tmp/f", "text");
            assertRefused(mount, "/db/f", "/checkpoint", Errno.EOPNOTSUPP);
            assertRefused(mount, "/db/f", "/db/new", Errno.EOPNOTSUPP);
            assertRefused(mount, "/db/new/f", "/db", Errno.EOPNOTSUPP);
            assertRefused(mount, "/tmp/f", "/db/new", Errno.EOPNOTSUPP);
            assertRefused(mount, "/tmp/f", "/checkpoint", Errno.EOPNOTSUPP);
        }
    }

    @ParameterizedTest
    @CsvSource({"EOPNOTSUPP, 95", "EXDEV, 18", "EPERM, 1"})
    void link_withAnotherErrno_answersIt(String name, int errno) {
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect()).with("link_errno", name).open()) {
            mount.mkdir("/d");
            mount.write("/f", "text");
            assertRefused(mount, "/f", "/", errno);
            assertRefused(mount, "/f", "/d", errno);
        }
    }
}
