package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.posix.IdMapper;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.fuse.time.Clock;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The group of a pod sees every file as the kubelet's own change of a volume's files would leave it. */
class GroupAccessTest {
    /** As OpenShift gives them out; more than 31 bits in the second case. */
    private static final int GROUP = (int) 3_000_680_000L;

    private static Attr shown(GroupAccess access, int umask, boolean directory, int mode) {
        FileStatus status = new FileStatus(7, "f", directory, true, 0, 0, mode, "alice", "staff", 1, 1, Map.of());
        return new AttrDecoder(
                        IdMapper.ofHost(Clock.system()),
                        AttrDecoder.AS_ALLUXIO_SAYS,
                        GROUP,
                        access,
                        umask,
                        new MemoryAccounting(Long.MAX_VALUE))
                .read(status, 0);
    }

    private static int mode(GroupAccess access, int umask, boolean directory, int mode) {
        return shown(access, umask, directory, mode).mode() & 07777;
    }

    @Test
    void group_ofMoreThan31Bits_isShown() {
        assertThat(Integer.toUnsignedString(
                        shown(GroupAccess.NONE, 0, false, 0600).gid()))
                .isEqualTo("3000680000");
    }

    @Test
    void mode_whereTheGroupMayWrite_hasItsBits() {
        assertThat(mode(GroupAccess.WRITE, 0, false, 0600)).isEqualTo(0660);
        assertThat(mode(GroupAccess.WRITE, 0, false, 0755)).isEqualTo(0775);
        assertThat(mode(GroupAccess.WRITE, 0, true, 0700)).isEqualTo(0770);
    }

    @Test
    void mode_whereTheGroupMayRead_hasThoseBitsOnly() {
        assertThat(mode(GroupAccess.READ, 0, false, 0600)).isEqualTo(0640);
        assertThat(mode(GroupAccess.READ, 0, true, 0700)).isEqualTo(0750);
    }

    @Test
    void mode_whereNobodyAsked_isAlluxios() {
        assertThat(mode(GroupAccess.NONE, 0, false, 0600)).isEqualTo(0600);
    }

    @Test
    void umask_winsOverTheGroup() {
        assertThat(mode(GroupAccess.WRITE, 0022, true, 0700)).isEqualTo(0750);
    }
}
