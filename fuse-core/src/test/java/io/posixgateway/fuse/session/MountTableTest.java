package io.posixgateway.fuse.session;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.session.MountTable.Mount;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines of the table, as the kernel writes them, with names that users chose. */
class MountTableTest {
    private static final String OURS = line("0:50", "/", "/mnt/data", "fuse.posix-gateway");
    private static final String ROOT = line("8:1", "/", "/", "ext4");

    private static String line(String device, String root, String target, String type) {
        return "36 35 " + device + " " + escaped(root) + " " + escaped(target) + " rw,relatime shared:1 - " + type
                + " source rw\n";
    }

    /** As the kernel's mangle() does. */
    private static String escaped(String name) {
        return name.replace("\\", "\\134")
                .replace(" ", "\\040")
                .replace("\t", "\\011")
                .replace("\n", "\\012")
                .replace("#", "\\043");
    }

    private static List<Mount> table(String... lines) {
        return MountTable.parse(String.join("", lines).getBytes(StandardCharsets.UTF_8));
    }

    private static Mount at(List<Mount> mounts, String path) {
        return requireNonNull(MountTable.at(mounts, Path.of(path)));
    }

    private static Mount holding(List<Mount> mounts, String path) {
        return requireNonNull(MountTable.holding(mounts, Path.of(path)));
    }

    private static void assertOurs(List<Mount> mounts) {
        assertThat(at(mounts, "/mnt/data").device()).isEqualTo("0:50");
    }

    /** As Linux before 5.8 does while another mount is removed. */
    @Test
    void stable_whereAReadingLeavesAMountOut_hasIt() throws IOException {
        Iterator<String> readings = List.of(ROOT, ROOT + OURS, ROOT + OURS).iterator();
        byte[] read = MountTable.stable(() -> readings.next().getBytes(StandardCharsets.UTF_8));
        assertThat(read).asString().isEqualTo(ROOT + OURS);
    }

    @Test
    void stable_whereItChangesAllTheTime_saysSo() {
        AtomicInteger count = new AtomicInteger();
        assertThatThrownBy(() -> MountTable.stable(() -> new byte[] {(byte) count.incrementAndGet()}))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("changed in each");
    }

    /** In each of them Java, or C, sees the end of a line or of a word. */
    @ParameterizedTest
    @ValueSource(strings = {"\r", "\u000b", "\f", "\u0085", "\u00a0", "\u2028", "\u3000", "\t", "\n", " ", "#", "\\"})
    void names_withWhatSeparatesElsewhere_areNames(String separator) {
        String name = "/mnt/a" + separator + "/mnt/data";
        List<Mount> mounts =
                table(ROOT, OURS, line("0:60", name, "/mnt/other", "tmpfs"), line("0:70", "/", name, "tmpfs"));
        assertThat(mounts).hasSize(4);
        assertOurs(mounts);
        Mount named = at(mounts, name);
        assertThat(named.device()).isEqualTo("0:70");
        assertThat(named.target()).isEqualTo(name);
        Mount bind = at(mounts, "/mnt/other");
        assertThat(bind.root()).isEqualTo(name);
        assertThat(bind.pathWithin(Path.of("/mnt/other/file"))).isEqualTo(name + "/file");
    }

    /** What is escaped in the name already is not what the kernel escapes. */
    @ParameterizedTest
    @ValueSource(strings = {"/mnt/d\\141ta", "/mnt/data\\", "/mnt/data\\0", "/mnt/data\\04", "\\057mnt/data"})
    void names_thatLookEscaped_areNames(String name) {
        assertOurs(table(OURS, line("0:60", name, "/mnt/other", "tmpfs"), line("0:70", "/", name, "tmpfs")));
    }

    /** No kernel writes it so; nothing else is to stop for it. */
    @ParameterizedTest
    @ValueSource(strings = {"\\", "\\0", "\\09 ", "\\999", "36 35 0:1 / /mnt/data rw", "", " ", "- - - - - - - -"})
    void lines_ofAnotherForm_areLeftOut(String odd) {
        assertOurs(table(OURS, "36 35 0:60 / /mnt/" + odd + " rw - tmpfs source rw\n", odd + "\n"));
    }

    /** Neither is UTF-8, and both are the same text in Java. */
    @Test
    void names_thatAreNotUtf8_areNotTakenForOneAnother() {
        byte[] table = line("0:60", "/", "/mnt/\u00ff", "tmpfs").getBytes(StandardCharsets.ISO_8859_1);
        List<Mount> mounts = MountTable.parse(table);
        assertThat(mounts).hasSize(1);
        assertThat(MountTable.at(mounts, Path.of("/mnt/\ufffd"))).isNull();
        assertThat(MountTable.at(mounts, Path.of("/mnt/\u00ff"))).isNull();
        assertThat(MountTable.holding(mounts, Path.of("/mnt/\ufffd/file"))).isNull();
    }

    @Test
    void names_asLongAsAnyCanBe_areReadWhole() {
        String name = "/" + " ".repeat(4094);
        List<Mount> mounts = table(OURS, line("0:60", name, "/mnt/other", "tmpfs"), line("0:70", "/", name, "tmpfs"));
        assertOurs(mounts);
        Mount named = at(mounts, name);
        assertThat(named.device()).isEqualTo("0:70");
    }

    @Test
    void aPath_isHeldByTheTopmostOfTheDeepestMounts() {
        List<Mount> mounts = table(ROOT, OURS, line("0:60", "/sub", "/mnt/data", "tmpfs"));
        Mount upper = holding(mounts, "/mnt/data/a/file");
        assertThat(upper.device()).isEqualTo("0:60");
        assertThat(upper.pathWithin(Path.of("/mnt/data/a/file"))).isEqualTo("/sub/a/file");
        assertThat(upper.pathWithin(Path.of("/mnt/data"))).isEqualTo("/sub");
        Mount beside = holding(mounts, "/mnt/data-of-another");
        assertThat(beside.device()).isEqualTo("8:1");
        assertThat(beside.pathWithin(Path.of("/"))).isEqualTo("/");
    }
}
