package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.posix.IdMapper;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.time.Clock;
import java.time.Instant;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What becomes of the attributes of a file that changes. */
class AttributeEditTest {
    private static final byte[] LATER = {2, 1, 4, 7};
    private static final Instant NOW = Instant.ofEpochSecond(1_000_000_000, 7);

    private static Attr attr(Map<String, byte[]> xattrs) {
        FileStatus status = new FileStatus(7, "f", false, true, 10, 1 << 20, 0644, "alice", "staff", 1, 1, xattrs);
        return new AttrDecoder(
                        IdMapper.ofHost(Clock.system()),
                        -1,
                        -1,
                        GroupAccess.NONE,
                        0,
                        new MemoryAccounting(Long.MAX_VALUE))
                .read(status, 0);
    }

    private static SetAttributes chmod() {
        SetAttributes changes = new SetAttributes();
        changes.valid = SetAttributes.MODE;
        changes.mode = 02600;
        return changes;
    }

    private static void isRefused(ThrowingCallable change) {
        assertThatThrownBy(change)
                .hasMessageContaining("file id 7 was written by a newer version")
                .isInstanceOfSatisfying(StoreException.class, refused -> assertThat(refused.errno())
                        .isEqualTo(Errno.EOPNOTSUPP));
    }

    @Test
    void whatALaterVersionWroteIsCarriedAlongOrTheChangeRefused() throws Exception {
        Attr later = attr(Map.of(PosixXattr.XATTR, LATER));
        isRefused(() -> AttributeEdit.apply(later, chmod(), NOW));
        isRefused(() -> AttributeEdit.ownedBy(later, "bob"));
        assertThat(AttributeEdit.ownedBy(later, "alice").xattrs()).containsEntry(PosixXattr.XATTR, LATER);
        assertThat(AttributeEdit.written(later.raw(), NOW).xattrs()).containsEntry(PosixXattr.XATTR, LATER);
    }

    @Test
    void whatThisVersionWroteIsChanged() throws Exception {
        FileStatus changed = AttributeEdit.apply(attr(Map.of()), chmod(), NOW);
        assertThat(changed.mode()).isEqualTo(0600);
        PosixXattr extras = PosixXattr.decode(changed.xattrs().get(PosixXattr.XATTR));
        assertThat(extras.foreign).isFalse();
        assertThat(extras.special).isEqualTo(02000);
        assertThat(Instant.ofEpochSecond(extras.changedSeconds, extras.changedNanos))
                .isEqualTo(NOW);
        FileStatus anew = AttributeEdit.ownedBy(attr(changed.xattrs()), "bob");
        extras = PosixXattr.decode(anew.xattrs().get(PosixXattr.XATTR));
        assertThat(extras.special).isEqualTo(02000);
        assertThat(extras.ownerThen).isEqualTo("bob");
    }
}
