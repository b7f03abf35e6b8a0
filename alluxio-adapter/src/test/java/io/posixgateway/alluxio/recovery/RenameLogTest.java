package io.posixgateway.alluxio.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.recovery.RenameLog.Renaming;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RenameLogTest {
    private static final Renaming RENAMING = new Renaming("/d/.pgw~a", 11, "/d/a");

    private final Path folder;

    RenameLogTest(@TempDir Path folder) {
        this.folder = folder;
    }

    /** A list of another process. */
    private void leave(String cluster) throws Exception {
        try (RenameLog dead = new RenameLog(folder, cluster, true)) {
            dead.over.add(RENAMING);
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path left : files.toList()) {
                String name = left.getFileName().toString();
                Files.move(left, left.resolveSibling(name.substring(0, name.indexOf('-', 8) + 1) + "of.another-1"));
            }
        }
    }

    /** The same by the name that this version gives. */
    private void leaveNamed(String cluster) throws Exception {
        try (RenameLog dead = new RenameLog(folder, cluster, true)) {
            dead.over.add(RENAMING);
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path left : files.toList()) {
                String name = left.getFileName().toString();
                Files.move(left, left.resolveSibling(name.replaceFirst("-[^-]*-\\d+$", "-of.another-1")));
            }
        }
    }

    private List<Renaming> inherited(String cluster, boolean own) {
        try (RenameLog next = new RenameLog(folder, cluster, own)) {
            return next.over.inherit();
        }
    }

    /** An entry is carried out in Alluxio. */
    @Test
    void inherit_whereOthersCouldPutAList_findsNone() throws Exception {
        leave("one:19998");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(inherited("one:19998", true)).isEmpty();
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        assertThat(inherited("one:19998", true)).containsExactly(RENAMING);
    }

    @Test
    void inherit_inAVolumesFolder_findsListsOfOtherMasters() throws Exception {
        leave("one:19998");
        assertThat(inherited("one:19998,two:19998", true)).containsExactly(RENAMING);
    }

    @Test
    void inherit_inASharedFolder_leavesListsOfOtherMasters() throws Exception {
        leave("one:19998");
        assertThat(inherited("one:19998,two:19998", false)).isEmpty();
        assertThat(inherited("one:19998", false)).containsExactly(RENAMING);
    }

    @Test
    void inherit_inASharedFolder_leavesListsOfMastersWithTheSameHash() throws Exception {
        assertThat("Aa:19998").hasSameHashCodeAs("BB:19998");
        leaveNamed("Aa:19998");
        assertThat(inherited("BB:19998", false)).isEmpty();
        assertThat(inherited("Aa:19998", false)).containsExactly(RENAMING);
    }
}
