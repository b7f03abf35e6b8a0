package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.client.file.FileSystemContext;
import alluxio.grpc.RenamePRequest;
import alluxio.grpc.WritePType;
import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.alluxio.store.StoreOptions;
import java.util.List;
import java.util.Map;
import javax.security.auth.Subject;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the master is asked for when a file replaces another one that workers alone have. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RenamesTest {
    private final ManualClock clock = new ManualClock();

    /** Asked to persist, the master has the job service put it into the under file system; where that renames over a file, it need not. */
    @ParameterizedTest
    @CsvSource({
        "CACHE_THROUGH, s3://bucket/, true",
        "MUST_CACHE, s3://bucket/, false",
        "CACHE_THROUGH, hdfs://name:9000/, true",
        "MUST_CACHE, hdfs://name:9000/, false",
        "CACHE_THROUGH, /folder, false",
        "ASYNC_THROUGH, /folder, true"
    })
    void replacement_isPersisted_onlyWhereWhatIsWrittenIs(String writeType, String ufs, boolean persists)
            throws Exception {
        try (FalseMaster server = new FalseMaster(true)) {
            StoreOptions options = new StoreOptions(
                    server.address(), "", writeType, true, Map.of("alluxio.security.authentication.type", "NOSASL"));
            try (FileSystemContext context = FileSystemContext.create(new Subject(), ClientProperties.of(options))) {
                MasterClient master = new MasterClient(context, 1, clock);
                MountPoints mountPoints = new MountPoints(() -> Map.of("/", ufs), clock);
                new Renames(
                                new FileSystemMaster(context, master),
                                mountPoints,
                                new LoadMetadataRaceGuard(clock),
                                new OpenReaders(),
                                WritePType.valueOf(writeType))
                        .rename("/new", "/file", true);
                master.close();
            }
            List<RenamePRequest> renames = server.requests.stream()
                    .filter(RenamePRequest.class::isInstance)
                    .map(RenamePRequest.class::cast)
                    .toList();
            assertThat(renames).hasSize(1);
            assertThat(renames.get(0).getOptions().getPersist()).isEqualTo(persists);
        }
    }
}
