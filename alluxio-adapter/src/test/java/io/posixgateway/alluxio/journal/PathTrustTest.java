package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who could put another folder in the place of one that is believed: whoever may write to a folder above it, or owns one. */
class PathTrustTest {
    private static final int STRANGER = 54_321;
    private static final int OVERFLOW = 65_534;

    private final Path parent;
    private final Path above;
    private final Path folder;

    PathTrustTest(@TempDir Path parent) {
        this.parent = parent;
        this.above = parent.resolve("above");
        this.folder = above.resolve("between/volume");
    }

    @BeforeEach
    void make() throws IOException {
        Files.createDirectories(folder);
        mode(above, 0755);
        mode(above.resolve("between"), 0755);
    }

    private static void mode(Path path, int mode) throws IOException {
        Files.setAttribute(path, "unix:mode", mode);
    }

    private static void run(String... words) throws Exception {
        assertThat(new ProcessBuilder(words).start().waitFor())
                .as("%s", List.of(words))
                .isZero();
    }

    private static void needsRoot() throws IOException {
        assumeTrue(Built.isRoot(), "only root gives folders away, and mounts");
    }

    private static void trusted(Path path) {
        assertThatCode(() -> PathTrust.check(path)).doesNotThrowAnyException();
    }

    private static void refused(Path path, String... says) {
        assertThatThrownBy(() -> PathTrust.check(path))
                .isInstanceOf(StateFolder.NotTrusted.class)
                .hasMessageContaining(path.toString())
                .hasMessageContainingAll(says);
    }

    @Test
    void folderAbove_thatOthersMayWrite_isRefusedAtAnyHeight() throws Exception {
        trusted(folder);
        for (Path open : List.of(above, above.resolve("between"))) {
            mode(open, 0777);
            refused(folder, open + " of mode 0777", "chmod o-w " + open);
            mode(open, 0755);
        }
        trusted(folder);
        mode(above, 01777);
        trusted(folder);
    }

    /** As /var/local of Debian (root:staff), the folders of a project, and the homes of users with umask 002. */
    @Test
    void folderAbove_thatAGroupMayWrite_isTrustedWithALineInTheLog() throws Exception {
        needsRoot();
        Files.setAttribute(above, "unix:gid", STRANGER);
        for (int mode : new int[] {0775, 02775, 0770}) {
            mode(above, mode);
            trusted(folder);
            trusted(folder.resolve("not/there"));
        }
        mode(above, 0777);
        refused(folder, "chmod go-w " + above);
        mode(above, 03775);
        trusted(folder);
    }

    /** As the HOME of an image of another user, where an earlier gateway made its folder. */
    @Test
    void folderAbove_ofAnotherUser_isTrustedForWhatIsThereAlone() throws Exception {
        needsRoot();
        Files.setAttribute(above, "unix:uid", STRANGER);
        trusted(folder.resolve("spool-"));
        StateFolder.make(folder);
        Path made = above.resolve("new");
        refused(made.resolve("spool-"), above + " of user " + STRANGER, "chown root " + above);
        assertThatThrownBy(() -> StateFolder.make(made)).isInstanceOf(StateFolder.NotTrusted.class);
        assertThat(made).doesNotExist();
        Files.setAttribute(folder, "unix:uid", STRANGER);
        refused(folder.resolve("spool-"), above + " of user " + STRANGER);
        Files.setAttribute(folder, "unix:uid", 0);
        mode(above, 0757);
        refused(folder.resolve("spool-"), "chmod o-w " + above);
    }

    /** As an emptyDir of Kubernetes is one, of mode 0777, or 2777 with an fsGroup. */
    @Test
    void rootOfAMount_thatOthersMayWrite_isTrusted_andNoFolderInIt() throws Exception {
        needsRoot();
        Path disk = Files.createDirectory(parent.resolve("disk"));
        run("mount", "-t", "tmpfs", "none", disk.toString());
        try {
            for (int mode : new int[] {0777, 02777}) {
                mode(disk, mode);
                trusted(disk.resolve("volume"));
            }
            Path within = Files.createDirectory(disk.resolve("within"));
            mode(within, 0777);
            refused(within.resolve("volume"), "chmod o-w " + within);
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    /** As the spool of a chart whose gateways run as another user, for one that runs as root. */
    @Test
    void rootOfAMount_ofAnotherUser_isTrusted_andWhatIsHisBelow() throws Exception {
        needsRoot();
        Path disk = Files.createDirectory(parent.resolve("disk"));
        run("mount", "-t", "tmpfs", "none", disk.toString());
        try {
            mode(disk, 0700);
            Path volume = Files.createDirectory(disk.resolve("volume"));
            for (Path his : List.of(disk, volume)) {
                Files.setAttribute(his, "unix:uid", STRANGER);
            }
            trusted(volume.resolve("spool-1"));
            Files.setAttribute(volume, "unix:uid", STRANGER + 1);
            refused(volume.resolve("spool-1"), volume + " of user " + (STRANGER + 1));
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    /** Its device is that of the folder above. */
    @Test
    void rootOfABindMount_thatOthersMayWrite_isTrusted() throws Exception {
        needsRoot();
        Path open = Files.createDirectory(parent.resolve("open folder"));
        mode(open, 0777);
        refused(open.resolve("volume"), "chmod o-w");
        run("mount", "--bind", open.toString(), open.toString());
        try {
            trusted(open.resolve("volume"));
        } finally {
            run("umount", "-l", open.toString());
        }
    }

    @Test
    void links_areFollowed_andAllThatTheyLeadThroughIsLookedAt() throws Exception {
        Path open = Files.createDirectory(parent.resolve("open"));
        Path target = Files.createDirectories(open.resolve("target"));
        Path link = Files.createSymbolicLink(parent.resolve("link"), Path.of("above/../open/./target"));
        trusted(link.resolve("volume"));
        trusted(link);
        mode(open, 0777);
        refused(link.resolve("volume"), "chmod o-w " + open);
        refused(link, "chmod o-w " + open);
        mode(open, 0755);
        Path absolute = Files.createSymbolicLink(above.resolve("absolute"), target);
        trusted(absolute.resolve("volume"));
        mode(target, 0777);
        refused(absolute.resolve("volume"), "chmod o-w " + target);
    }

    @Test
    void link_ofAnotherUser_isRefused() throws Exception {
        needsRoot();
        Path link = Files.createSymbolicLink(parent.resolve("link"), above);
        run("chown", "-h", Integer.toString(STRANGER), link.toString());
        refused(link.resolve("between"), "the link " + link + " of user " + STRANGER);
    }

    @Test
    void links_inACircle_areRefused() throws Exception {
        Path one = Files.createSymbolicLink(parent.resolve("one"), Path.of("other"));
        Files.createSymbolicLink(parent.resolve("other"), Path.of("one"));
        refused(one.resolve("volume"), "more than 40 links");
    }

    /** In a user namespace that has no number for root, as a pod with hostUsers: false may see its node's folders. */
    @Test
    void folderAbove_ofNobodyKnown_isTrustedWhereRootIsNotKnown_andNobodyElseMayWrite() throws Exception {
        needsRoot();
        Files.setAttribute(above, "unix:uid", OVERFLOW);
        Files.setAttribute(above, "unix:gid", OVERFLOW);
        Path made = folder.resolve("not/there");
        refused(made, above + " of user " + OVERFLOW);
        PathTrust within = new PathTrust(new PathTrust.Self(0, 0, OVERFLOW));
        within.checkAbove(made);
        for (int mode : new int[] {0775, 0757}) {
            mode(above, mode);
            assertThatThrownBy(() -> within.checkAbove(made)).isInstanceOf(StateFolder.NotTrusted.class);
        }
    }

    /** As a tmpfs at /tmp that the host's root mounted: what any user of the host makes there shows the same owner. */
    @Test
    void stickyFolder_ofNobodyKnown_isTrustedForWhatIsOursBelowAlone() throws Exception {
        needsRoot();
        PathTrust within = new PathTrust(new PathTrust.Self(0, 0, OVERFLOW));
        Path disk = Files.createDirectory(parent.resolve("disk"));
        run("mount", "-t", "tmpfs", "none", disk.toString());
        try {
            for (Path sticky : List.of(disk, Files.createDirectory(above.resolve("sticky")))) {
                mode(sticky, 01777);
                Files.setAttribute(sticky, "unix:uid", OVERFLOW);
                Path volume = Files.createDirectory(sticky.resolve("volume"));
                within.checkAbove(volume.resolve("spool-"));
                within.checkAbove(sticky.resolve("not/there"));
                Files.setAttribute(volume, "unix:uid", OVERFLOW);
                assertThatThrownBy(() -> within.checkAbove(volume.resolve("spool-")))
                        .isInstanceOf(StateFolder.NotTrusted.class)
                        .hasMessageContaining(volume + " of user " + OVERFLOW);
            }
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    @Test
    void whatIsMissing_willBeMadeHere() throws Exception {
        trusted(folder.resolve("not/there"));
        StateFolder.make(folder.resolve("not/there"));
        mode(above, 0777);
        refused(folder.resolve("not/there/yet"), "chmod o-w " + above);
        assertThatThrownBy(() -> StateFolder.make(folder.resolve("new"))).isInstanceOf(StateFolder.NotTrusted.class);
        assertThatThrownBy(() -> StateFolder.makeShown(folder.resolve("new"))).isInstanceOf(IOException.class);
        assertThat(folder.resolve("new")).doesNotExist();
    }

    @Test
    void volumeStateDir_belowAnOpenOne_isRefusedWithWhatToDo() throws Exception {
        mode(above, 0777);
        assertThatThrownBy(() -> VolumeStateDir.open(folder))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EPERM))
                .hasMessageContaining("chmod o-w " + above);
    }
}
