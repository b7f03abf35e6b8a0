package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Folders in which programs of others look for what this process puts there. */
class StateFolderTest {
    private final Path folder;

    StateFolderTest(@TempDir Path parent) {
        this.folder = parent.resolve("bypass");
    }

    private void refused(String why) {
        assertThatThrownBy(() -> StateFolder.makeShown(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(why)
                .hasMessageContaining("mode 0755");
    }

    @Test
    void makeShown_missing_isMadeForOthersToLookAt() throws IOException {
        StateFolder.makeShown(folder);
        StateFolder.makeShown(folder);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
                .isEqualTo("rwxr-xr-x");
    }

    @Test
    void makeShown_othersMayWrite_isRefused() throws IOException {
        StateFolder.makeShown(folder);
        for (String mode : new String[] {"rwxrwxr-x", "rwxr-xrwx"}) {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(mode));
            refused("is writable by others");
        }
    }

    @Test
    void makeShown_link_isRefused() throws IOException {
        Files.createSymbolicLink(folder, Files.createDirectory(folder.resolveSibling("elsewhere")));
        refused("is a link, or not a folder");
    }

    @Test
    void makeShown_anotherUsers_isRefused() throws IOException {
        assumeTrue((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0, "giving a folder away needs root");
        StateFolder.makeShown(folder);
        Files.setAttribute(folder, "unix:uid", 4711);
        refused("another user");
    }
}
