package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.fuse.conformance.Command;
import java.net.URL;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** mount(8) with the helper and a line of /etc/fstab, in a mount namespace of its own. */
class MountHelperIT {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void mount_byHelperAndFstab_hasTheOptionsThatWereAskedFor() throws Exception {
        assumeTrue(Built.isRoot(), "mounting with suid and dev needs root");
        URL script = Objects.requireNonNull(MountHelperIT.class.getResource("/mount-helper.sh"));
        String said = Command.run(
                300,
                "unshare",
                "--mount",
                "bash",
                Path.of(script.toURI()).toString(),
                Built.gateway().resolveSibling("mount.posix-gateway").toString(),
                folder.toString());
        assertThat(said).endsWith("done\n");
    }
}
