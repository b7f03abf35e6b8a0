package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A user without privileges mounts through fusermount, reads, writes and unmounts. */
class OrdinaryUserIT {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int NOBODY = 65534;

    @TempDir
    private Path folder = Path.of("");

    private Path program = Path.of("");
    private Path mount = Path.of("");

    @BeforeEach
    void prepare() throws Exception {
        Path built = Built.gateway();
        assumeTrue(Built.isRoot(), "only root can become another user");
        Files.setAttribute(folder, "unix:mode", 01777);
        mount = Files.createDirectory(folder.resolve("mnt"));
        Files.setAttribute(mount, "unix:uid", NOBODY);
        program = readable(built);
    }

    /** The launcher, copied with its jars where everybody can read them. */
    private Path readable(Path built) throws IOException {
        Path source = built.resolve("../..").normalize();
        Path copy = Files.createDirectory(folder.resolve("dist"));
        for (String part : List.of("bin", "lib")) {
            Path target = Files.createDirectory(copy.resolve(part));
            try (Stream<Path> files = Files.list(source.resolve(part))) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    Files.copy(file, target.resolve(file.getFileName()));
                }
            }
        }
        try (Stream<Path> all = Files.walk(copy)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
        }
        return copy.resolve("bin").resolve("posix-gateway");
    }

    /**
     * Runs a script as nobody, in namespaces of its own: there /dev/fuse is open to everybody, as on most systems, whatever
     * this machine's is; and whatever the script leaves mounted or running ends with it.
     */
    private String asNobody(String script) throws Exception {
        Path user = Files.writeString(folder.resolve("user.sh"), script);
        Path root = Files.writeString(folder.resolve("root.sh"), """
                set -e
                mknod -m 666 '%1$s/fuse' c 10 229
                mount --bind '%1$s/fuse' /dev/fuse
                HOME='%1$s' exec setpriv --reuid=%2$d --regid=%2$d --clear-groups sh -e '%3$s'
                """.formatted(folder, NOBODY, user));
        List<String> command =
                List.of("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", root.toString());
        try (Program process = Program.start(folder, command)) {
            assertThat(process.await(LIMIT)).as(process.output()).isZero();
            return process.output();
        }
    }

    @Test
    void mounting_using_and_unmounting_works_without_privileges() throws Exception {
        String script = """
                '%1$s' testfs memory '%2$s' --log-file '%3$s/server.log'
                cd '%2$s'
                mkdir d
                echo text > d/f
                mv d/f g
                echo "read: $(cat g) by $(stat -c %%u g)"
                rm g
                rmdir d
                cd /
                '%1$s' umount '%2$s'
                ! grep -q '%2$s' /proc/self/mountinfo
                """.formatted(program, mount, folder);
        assertThat(asNobody(script)).contains("is mounted at " + mount, "transport ", "read: text by " + NOBODY);
    }
}
