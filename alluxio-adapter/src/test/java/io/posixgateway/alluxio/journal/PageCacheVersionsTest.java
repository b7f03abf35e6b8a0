package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the kernel's pages are of is known to the next process, and never believed of another content. */
class PageCacheVersionsTest {
    @TempDir
    private Path folder = Path.of("");

    private PageCacheVersions next(boolean goesOn) {
        PageCacheVersions log = new PageCacheVersions(folder.resolve("pages"));
        log.begin(goesOn);
        return log;
    }

    @Test
    void the_next_process_knows_what_was_noted_and_not_forgotten() {
        PageCacheVersions first = next(false);
        first.note(5, 50);
        first.note(6, 60);
        first.forget(6);
        PageCacheVersions second = next(true);
        assertThat(second.has(5, 50)).isTrue();
        assertThat(second.has(5, 51)).as("other content").isFalse();
        assertThat(second.has(7, 50)).as("another node").isFalse();
        assertThat(second.has(6, 60)).as("forgotten").isFalse();
    }

    @Test
    void a_new_kernel_has_no_pages() {
        next(false).note(5, 50);
        assertThat(next(false).has(5, 50)).isFalse();
    }

    @Test
    void many_nodes_are_never_taken_for_each_other() {
        PageCacheVersions log = next(false);
        for (long node = 1; node <= 500_000; node++) {
            log.note(node, node * 3);
        }
        long known = 0;
        for (long node = 1; node <= 500_000; node++) {
            known += log.has(node, node * 3) ? 1 : 0;
            assertThat(log.has(node, node * 3 + 1)).isFalse();
        }
        assertThat(known).isBetween(100_000L, 131_072L);
    }

    @Test
    void without_its_file_nothing_is_known(@TempDir Path other) throws Exception {
        Path taken = Files.createFile(other.resolve("file"));
        PageCacheVersions log = new PageCacheVersions(taken.resolve("pages"));
        log.begin(true);
        log.note(5, 50);
        assertThat(log.has(5, 50)).isFalse();
    }

    @Test
    void a_file_of_another_length_is_made_anew() throws Exception {
        Files.write(folder.resolve("pages"), new byte[100]);
        PageCacheVersions log = next(true);
        log.note(5, 50);
        assertThat(next(true).has(5, 50)).isTrue();
    }
}
