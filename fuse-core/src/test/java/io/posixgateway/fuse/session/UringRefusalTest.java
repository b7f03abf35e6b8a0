package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** io_uring that is denied is told from one that is not there. */
class UringRefusalTest {
    private final Path proc;

    UringRefusalTest(@TempDir Path proc) throws IOException {
        this.proc = proc;
        Files.createDirectories(proc.resolve("self"));
        Files.createDirectories(proc.resolve("sys/kernel"));
    }

    private String refusal(int errno) {
        return String.valueOf(UringRefusal.of(-errno, proc));
    }

    private void seccomp(int mode) throws IOException {
        Files.writeString(proc.resolve("self/status"), "Name:\tjava\nSeccomp:\t" + mode + "\nSeccomp_filters:\t1\n");
    }

    @Test
    void refusal_eperm_underAFilter_namesTheProfile() throws IOException {
        seccomp(2);
        Files.writeString(proc.resolve("sys/kernel/io_uring_disabled"), "0\n");
        assertThat(refusal(Errno.EPERM)).contains("seccomp profile").contains("uringProfile");
    }

    @Test
    void refusal_eperm_bySysctl_namesTheSysctl() throws IOException {
        seccomp(2);
        Files.writeString(proc.resolve("sys/kernel/io_uring_disabled"), "2\n");
        assertThat(refusal(Errno.EPERM))
                .contains("kernel.io_uring_disabled is 2")
                .doesNotContain("seccomp");
    }

    @Test
    void refusal_otherwise_saysWhatTheKernelSaid() throws IOException {
        seccomp(0);
        assertThat(refusal(Errno.EPERM))
                .contains("this process may not use io_uring")
                .doesNotContain("seccomp");
        assertThat(refusal(Errno.ENOSYS)).isEqualTo("this kernel has no io_uring");
        assertThat(refusal(Errno.ENOMEM)).doesNotContain("seccomp");
        assertThat(UringRefusal.of(0, proc)).isNull();
    }
}
