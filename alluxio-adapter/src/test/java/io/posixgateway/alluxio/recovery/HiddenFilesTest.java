package io.posixgateway.alluxio.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.recovery.HiddenFiles.Hidden;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HiddenFilesTest {
    private static final Hidden A = new Hidden("/d/.pgw~a", 11, 13);
    private static final Hidden B = new Hidden("/d/.pgw~b", 0, 0);

    private final Path folder;

    HiddenFilesTest(@TempDir Path folder) {
        this.folder = folder;
    }

    /** A list of another process. */
    private Path leave(String cluster, Hidden... all) throws Exception {
        HiddenFiles dead = new HiddenFiles(folder, cluster, false);
        for (Hidden hidden : all) {
            dead.add(hidden);
        }
        dead.close();
        Path left = files().stream()
                .filter(file -> !file.toString().contains("of.another"))
                .findAny()
                .orElseThrow();
        String name = left.getFileName().toString();
        return Files.move(left, left.resolveSibling(name.substring(0, name.indexOf('-', 7) + 1) + "of.another-1"));
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Test
    void whatADeadProcessLeftIsInheritedOnce() throws Exception {
        Path left = leave("here", A, B);
        HiddenFiles next = new HiddenFiles(folder, "here", false);
        assertThat(next.inherit()).containsExactly(A, B);
        assertThat(left).doesNotExist();
        assertThat(next.inherit()).isEmpty();
        next.forget(A.node());
        assertThat(next.present()).containsExactly(B);
        next.remove(B.path());
        next.close();
        assertThat(files()).isEmpty();
    }

    @Test
    void aVolumesOwnListsAreInheritedThoughItsMastersAreOthersByNow() throws Exception {
        leave("one:19998", A);
        assertThat(new HiddenFiles(folder, "one:19998,two:19998", true).inherit())
                .containsExactly(A);
    }

    @Test
    void listsOfTheSameMastersInAnotherOrderAreInherited() throws Exception {
        leave("[two:19998, one:19998]", A);
        assertThat(new HiddenFiles(folder, "[one:19998]", false).inherit()).isEmpty();
        assertThat(new HiddenFiles(folder, "[one:19998, two:19998]", false).inherit())
                .containsExactly(A);
    }

    @Test
    void listsThatAnEarlierVersionNamedInTheOrderOfItsMastersAreInherited() throws Exception {
        Path left = leave("[one:19998, two:19998]", A);
        String old = "hidden-" + Integer.toHexString("[two:19998, one:19998]".hashCode()) + "-of.another-1";
        Files.move(left, left.resolveSibling(old));
        assertThat(new HiddenFiles(folder, "[two:19998, one:19998]", false).inherit())
                .containsExactly(A);
    }

    @Test
    void whatWasTakenOffIsNotInherited() throws Exception {
        HiddenFiles dead = new HiddenFiles(folder, "here", false);
        dead.add(A);
        dead.add(B);
        dead.remove(A.path());
        dead.close();
        Path left = files().get(0);
        Files.move(left, left.resolveSibling(left.getFileName().toString().replaceAll("[^-]*-1?\\d*$", "x-1")));
        assertThat(new HiddenFiles(folder, "here", false).inherit()).containsExactly(B);
    }

    @Test
    void anEntryThatWasCutShortDoesNotCount() throws Exception {
        Path left = leave("here", A, B);
        byte[] bytes = Files.readAllBytes(left);
        Files.write(left, java.util.Arrays.copyOf(bytes, bytes.length - 3));
        assertThat(new HiddenFiles(folder, "here", false).inherit()).containsExactly(A);
    }

    @Test
    void listsOfAnotherAlluxioAndOfTheLivingStay() throws Exception {
        Path other = leave("elsewhere", A);
        Path locked = leave("here", B);
        Process living = new ProcessBuilder(
                        "python3",
                        "-c",
                        "import fcntl,sys; f=open(sys.argv[1],'r+b'); fcntl.lockf(f,fcntl.LOCK_EX); print('locked',"
                                + " flush=True); sys.stdin.read()",
                        locked.toString())
                .start();
        try {
            assertThat(living.getInputStream().read()).isEqualTo('l');
            assertThat(new HiddenFiles(folder, "here", false).inherit()).isEmpty();
        } finally {
            living.destroyForcibly().waitFor();
        }
        HiddenFiles own = new HiddenFiles(folder, "here", false);
        own.add(A);
        assertThat(own.inherit()).containsExactly(B);
        assertThat(new HiddenFiles(folder, "here", false).inherit())
                .as("one of this process")
                .isEmpty();
        assertThat(other).exists();
        own.close();
    }
}
