package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.posix.IdMapper;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DirectoryTimesTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Clock clock = cluster.clock();
    private final MemoryAccounting bytes = new MemoryAccounting(Long.MAX_VALUE);
    private final InodeTable table = new InodeTable("/", 0, 100, bytes, NameCodec.ESCAPED, clock);
    private final Metadata metadata = new Metadata(
            cluster.connect(),
            table,
            new PathPolicies(CachePolicy.Consistency.TTL, 0, Map.of(), 0, 0, clock),
            new AttrDecoder(IdMapper.ofHost(clock), -1, -1, GroupAccess.NONE, 0, bytes),
            new KernelInvalidator(clock));

    /** Its attributes were forgotten, and asked for before a name in it was changed: the response is of before. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1000})
    void change_inDirectoryOfWhichNothingIsKnown_outdatesEarlierResponses(long madeMillis) {
        Inode directory = table.of(5, true);
        long issued = table.generation().issued();
        try (NameChange change = metadata.times().changing(directory)) {
            change.made(madeMillis);
        }
        assertThat(directory.attr()).isNull();
        assertThat(directory.isNewerThan(issued)).isTrue();
        assertThat(directory.isNewerThan(table.generation().issued())).isFalse();
    }

    private static boolean isLooking() {
        return Thread.currentThread().getName().equals("directory-times");
    }

    @Test
    void aDirectoryThatFailsUnexpectedly_keepsNoOtherFromBeingLookedAt() throws Exception {
        CountDownLatch looked = new CountDownLatch(1);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            for (String directory : List.of("/a", "/b")) {
                mount.mkdir(directory);
                mount.write(directory + "/file", "old");
            }
            mount.faults().on(StoreCall.STATUS).at("/a").always().before(() -> {
                if (isLooking()) {
                    throw new LinkageError("nobody expects this");
                }
            });
            mount.faults().on(StoreCall.STATUS).at("/b").always().before(() -> {
                if (isLooking()) {
                    looked.countDown();
                }
            });
            mount.write("/a/file", "new");
            mount.write("/b/file", "new");
            Eventually.holds("the other one is looked at", () -> {
                cluster.clock().advance(Duration.ofSeconds(1));
                return looked.getCount() == 0;
            });
        }
    }
}
