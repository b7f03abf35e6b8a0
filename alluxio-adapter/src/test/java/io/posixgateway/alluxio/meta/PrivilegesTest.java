package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.FuseRequests.Opened;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.wire.Layouts;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Set-user-id and set-group-id of what a user without privileges changes; who asks is 1000, of group 1000. */
class PrivilegesTest {
    private static final int STRANGE = 4242;
    private static final int OWN = 1000;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    /** What is done to a file. */
    enum Change {
        WRITE {
            @Override
            void to(MemoryMount mount, FuseNode node) {
                throughHandle(mount, node, Stat.O_RDWR, file -> mount.requests().write(file, 0, new byte[] {1}));
            }
        },
        CUT {
            @Override
            void to(MemoryMount mount, FuseNode node) {
                mount.requests().truncate(node.id(), 2);
            }
        },
        CUT_BY_OPEN {
            @Override
            void to(MemoryMount mount, FuseNode node) {
                throughHandle(mount, node, Stat.O_RDWR | Stat.O_TRUNC, file -> {});
            }
        },
        RESERVE {
            @Override
            void to(MemoryMount mount, FuseNode node) {
                throughHandle(mount, node, Stat.O_RDWR, file -> mount.requests().fallocate(file, 0, 0, 4096));
            }
        };

        abstract void to(MemoryMount mount, FuseNode node);

        private static void throughHandle(
                MemoryMount mount, FuseNode node, int flags, java.util.function.Consumer<Opened> change) {
            Opened file = mount.requests().open(node, flags);
            change.accept(file);
            mount.requests().flush(file);
            mount.requests().release(file);
        }
    }

    private static int modeAfter(Change change, MemoryMount mount, int group, int mode) {
        mount.write("/f", "content");
        FuseNode node = mount.lookup("/f");
        mount.requests()
                .setattr(node.id(), SetAttributes.GID, changes -> changes.putInt(Layouts.SETATTR_IN_GID, group));
        mount.requests().chmod(node.id(), mode);
        change.to(mount, node);
        return mount.stat("/f").mode() & Stat.PERMISSIONS;
    }

    @ParameterizedTest
    @EnumSource
    void change_byStranger_takesSetIdBitsOff(Change change) {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            assertThat(modeAfter(change, mount, STRANGE, 02666)).isEqualTo(0666);
            assertThat(modeAfter(change, mount, STRANGE, 07777)).isEqualTo(01777);
            assertThat(modeAfter(change, mount, OWN, 06755)).isEqualTo(0755);
            assertThat(modeAfter(change, mount, OWN, 06666))
                    .as("its group may not execute it")
                    .isEqualTo(02666);
            assertThat(modeAfter(change, mount, STRANGE, 0666)).isEqualTo(0666);
        }
        try (MemoryMount next = MemoryMount.of(cluster)) {
            assertThat(next.stat("/f").mode() & Stat.PERMISSIONS).isEqualTo(0666);
        }
    }

    @ParameterizedTest
    @EnumSource
    void change_ofPlainFile_asksAlluxioForNothingMore(Change change) {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/f", "content");
            mount.faults().forgetCounts();
            change.to(mount, mount.lookup("/f"));
            assertThat(mount.faults().count(io.posixgateway.alluxio.store.StoreCall.CHANGE))
                    .isZero();
        }
    }
}
