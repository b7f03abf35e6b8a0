package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.control.proto.Cluster;
import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What another version of the gateway stored with a session, as a takeover reads it and as an attach does. */
class PersistentRequestTest {
    @TempDir
    private Path folder = Path.of("");

    /** Its spool is no folder, which ends every attempt that gets so far, before Alluxio is asked. */
    private Volumes volumes() throws Exception {
        Path spool = Files.createFile(folder.resolve("spool"));
        Clock clock = Clock.system();
        return new Volumes(
                new FileSystemFactory(null, spool, clock),
                new KeeperClient(folder.resolve("keeper.sock"), 1000, clock),
                folder,
                new BypassEndpoint(Path.of(""), clock));
    }

    private static AttachRequest.Builder request() {
        return AttachRequest.newBuilder()
                .setVolume("v")
                .setAlluxioPath("/")
                .setCluster(Cluster.newBuilder().setMasters("127.0.0.1:19998"));
    }

    @ParameterizedTest
    @CsvSource({"option_of_next_version,on", "consistency,of-next-version", "spool,/elsewhere"})
    void an_option_that_is_not_understood_hinders_an_attach_and_no_takeover(String name, String value)
            throws Exception {
        hindersOnlyAnAttach(request().putOptions(name, value).build());
    }

    @Test
    void nor_does_a_property() throws Exception {
        AttachRequest.Builder request = request();
        request.getClusterBuilder().putProperties("alluxio.of.next.version", "x");
        hindersOnlyAnAttach(request.build());
    }

    private void hindersOnlyAnAttach(AttachRequest request) throws Exception {
        Volumes volumes = volumes();
        ServiceException attach = catchThrowableOfType(ServiceException.class, () -> volumes.attach(request));
        assertThat(attach.kind()).isEqualTo(Kind.INVALID);
        ServiceException resume = catchThrowableOfType(ServiceException.class, () -> volumes.resume(request));
        assertThat(resume).hasMessageContaining("spool");
        assertThat(resume.kind()).isEqualTo(Kind.DENIED);
    }
}
