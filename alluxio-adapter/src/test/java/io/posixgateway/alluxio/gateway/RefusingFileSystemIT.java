package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.session.SessionOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What programs see of a session that cannot be served. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RefusingFileSystemIT {
    private static void isRefused(ThrowingCallable call) {
        assertThatThrownBy(call).hasMessageContaining("Input/output error");
    }

    @Test
    void everyCall_isAnsweredWithEio(@TempDir Path mountPoint) throws Exception {
        try (FuseSession session =
                FuseSession.mount(RefusingFileSystem.make(), mountPoint, SessionOptions.defaults())) {
            isRefused(() -> Files.createDirectory(mountPoint.resolve("new")));
            isRefused(() -> Files.readString(mountPoint.resolve("file")));
            isRefused(() -> {
                try (Stream<Path> names = Files.list(mountPoint)) {
                    names.toList();
                }
            });
            assertThat(session.ended()).isFalse();
        }
    }
}
