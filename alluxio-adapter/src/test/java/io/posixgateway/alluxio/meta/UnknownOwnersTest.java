package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.posix.IdMapper;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.fuse.time.Clock;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a bucket's objects look like that other clients put there. */
class UnknownOwnersTest {
    private static FileStatus object(int mode, String owner, Map<String, byte[]> xattrs) {
        return new FileStatus(7, "f", false, true, 10, 1 << 20, mode, owner, owner, 1, 1, xattrs);
    }

    private static int shownMode(int gid, int umask, FileStatus status) {
        Attr attr = new AttrDecoder(
                        IdMapper.ofHost(Clock.system()),
                        AttrDecoder.AS_ALLUXIO_SAYS,
                        gid,
                        GroupAccess.NONE,
                        umask,
                        new MemoryAccounting(Long.MAX_VALUE))
                .read(status, 0);
        return attr.mode() & 07777;
    }

    @Test
    void mode_ofObjectThatNobodyOwns_isTheGroupsTooWhereTheMountWasGivenOne() {
        FileStatus object = object(0700, "", Map.of());
        assertThat(shownMode(2000, 0, object)).isEqualTo(0770);
        assertThat(shownMode(2000, 0027, object)).isEqualTo(0750);
        assertThat(shownMode(-1, 0, object)).isEqualTo(0700);
    }

    @Test
    void mode_ofFileThatSomebodyOwnsOrChanged_holds() {
        assertThat(shownMode(2000, 0, object(0700, "alice", Map.of()))).isEqualTo(0700);
        assertThat(shownMode(2000, 0, object(0600, "", Map.of()))).isEqualTo(0600);
        assertThat(shownMode(2000, 0, object(0700, "", Map.of(PosixXattr.XATTR, new byte[0]))))
                .isEqualTo(0700);
    }

    @Test
    void line_namesTheFileAndTheOptions() {
        assertThat(UnknownOwners.line(object(0700, "", Map.of())))
                .contains("'f'", "mode 0700", "no owner", "uid", "gid", "alluxio.underfs.s3.default.mode");
        assertThat(UnknownOwners.line(object(0700, "bucket-owner", Map.of()))).contains("'bucket-owner'");
    }
}
