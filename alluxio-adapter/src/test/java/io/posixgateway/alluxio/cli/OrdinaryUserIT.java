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

    private Path folderOf(int user, Path path) throws IOException {
        Files.createDirectory(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.setAttribute(path, "unix:uid", user);
        return path;
    }

    /** Of a gateway that ran as root before, it may have the lock of who leads. */
    @Test
    void serving_from_a_spool_of_another_user_says_what_to_do() throws Exception {
        Path spool = folderOf(NOBODY, folder.resolve("spool"));
        Files.createFile(
                spool.resolve(".lead"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        String script = """
                ! '%1$s' serve --socket '%2$s/control.sock' --keeper '%2$s/keeper.sock' --spool '%2$s' --http 127.0.0.1:0
                """.formatted(program, spool);
        assertThat(asNobody(script)).contains("permission denied", "chown -R " + NOBODY + " " + spool);
    }

    /** Likewise the folder of a volume, or the lock in it. */
    @Test
    void a_volume_folder_of_another_user_says_what_to_do() throws Exception {
        Path spool = folderOf(NOBODY, folder.resolve("spool"));
        Path ofRoot = folderOf(0, spool.resolve("of-root"));
        Path ours = folderOf(NOBODY, spool.resolve("ours"));
        Files.createFile(
                ours.resolve("lock"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Path opener = Files.writeString(folder.resolve("Opener.java"), """
                public class Opener {
                    public static void main(String[] paths) {
                        for (String path : paths) {
                            try {
                                io.posixgateway.alluxio.journal.VolumeStateDir.open(java.nio.file.Path.of(path));
                                System.out.println("opened " + path);
                            } catch (Exception e) {
                                System.out.println(e.getMessage());
                            }
                        }
                    }
                }
                """);
        String script = "java -cp '%s/lib/*' '%s' '%s' '%s'".formatted(folder.resolve("dist"), opener, ofRoot, ours);
        assertThat(asNobody(script))
                .contains("chown -R " + NOBODY + " " + ofRoot, "chown -R " + NOBODY + " " + ours)
                .doesNotContain("opened");
    }
}
