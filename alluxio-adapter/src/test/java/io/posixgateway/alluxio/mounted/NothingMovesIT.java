package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.time.OffsetClock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Trees that programs make, whose attributes are noted when these end: nothing of them moves. On the transports of
 * {@code -Dpgw.transports}; {@code make nothing-moves}: on each. Without a mount, and over takeovers: {@code NothingMovesTest}.
 */
class NothingMovesIT {
    /** In all trees together; {@code make nothing-moves} takes 2,000. */
    private static final int FILES = Integer.getInteger("pgw.nothing.moves.files", 160);

    private static final int EACH = FILES / 4;
    private static final int SECONDS = 60 + FILES / 4;
    private static final Duration LONGER_THAN_ATTRIBUTES_LIVE = Duration.ofSeconds(10);
    private static final Map<String, String> OPTIONS = Map.of("metadata_ttl", "5s");

    private final Path local;

    NothingMovesIT(@TempDir Path local) {
        this.local = local;
    }

    private Path source() throws Exception {
        Path source = Files.createDirectories(local.resolve("source"));
        for (int i = 0; i < EACH; i++) {
            Path folder = Files.createDirectories(source.resolve("d" + i % 5 + "/e" + i % 3));
            Files.write(folder.resolve("file" + i), new byte[i * 37 % 5000]);
        }
        Files.createSymbolicLink(source.resolve("link"), Path.of("d0/e0/file0"));
        Command.run(
                SECONDS,
                "touch",
                "-d",
                "2010-10-10 10:10:10.123456789",
                source + "/d0",
                source + "/d1/e1",
                source + "");
        return source;
    }

    private Path repository(Path source) throws Exception {
        Path repository = local.resolve("repository");
        Command.run(SECONDS, "cp", "-r", source.toString(), repository.toString());
        Command.run(SECONDS, "git", "-C", repository.toString(), "init", "-q");
        Command.run(SECONDS, "git", "-C", repository.toString(), "add", ".");
        Command.run(
                SECONDS,
                "git",
                "-C",
                repository.toString(),
                "-c",
                "user.name=nobody",
                "-c",
                "user.email=nobody@localhost",
                "commit",
                "-q",
                "-m",
                "all");
        return repository;
    }

    /** A package for pip, without one that builds it. */
    private Path wheel() throws IOException {
        Path wheel = local.resolve("many-1.0-py3-none-any.whl");
        StringBuilder record = new StringBuilder();
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(wheel))) {
            for (int i = 0; i < EACH / 2; i++) { // and each is compiled
                put(zip, record, "many/m" + i + ".py", "x = " + i + "\n");
            }
            put(zip, record, "many/__init__.py", "");
            put(zip, record, "many-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: many\nVersion: 1.0\n");
            put(
                    zip,
                    record,
                    "many-1.0.dist-info/WHEEL",
                    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
            put(zip, record, "many-1.0.dist-info/RECORD", record + "many-1.0.dist-info/RECORD,,\n");
        }
        return wheel;
    }

    private static void put(ZipOutputStream zip, StringBuilder record, String name, String text) throws IOException {
        zip.putNextEntry(new ZipEntry(name));
        zip.write(text.getBytes(StandardCharsets.UTF_8));
        zip.closeEntry();
        record.append(name).append(",,\n");
    }

    private void make(Path root) throws Exception {
        Path source = source();
        Command.run(
                SECONDS, "cp", "-a", source.toString(), root.resolve("copied").toString());
        Path archive = local.resolve("archive.tar");
        Command.run(SECONDS, "tar", "-C", local.toString(), "-cf", archive.toString(), "source");
        Command.run(SECONDS, "tar", "-C", root.toString(), "-xf", archive.toString());
        Command.run(SECONDS, "git", "clone", "-q", "file://" + repository(source), root.resolve("cloned") + "");
        Command.run(
                SECONDS,
                "python3",
                "-m",
                "pip",
                "install",
                "-q",
                "--no-index",
                "--no-deps",
                "--target",
                root.resolve("installed").toString(),
                wheel().toString());
        Files.writeString(root.resolve("copied/d1/e1/log"), "a line\n");
        for (int i = 0; i < 5; i++) {
            Files.writeString(root.resolve("copied/d1/e1/log"), "one more\n", java.nio.file.StandardOpenOption.APPEND);
        }
    }

    /** Mode, owner, group, length, blocks, links, the times and the inode number of all. */
    private static List<String> stated(Path root) throws Exception {
        String all = Command.run(
                SECONDS,
                "find",
                root.toString(),
                "-mindepth",
                "1",
                "-printf",
                "%P %y %m %U %G %s %b %n %T@ %C@ %A@ %i\\n");
        return all.lines().sorted().toList();
    }

    private static Stream<TransportChoice> transports() {
        return Stream.of(System.getProperty("pgw.transports", "auto").split(","))
                .map(name -> TransportChoice.valueOf(name.toUpperCase(Locale.ROOT)));
    }

    @ParameterizedTest
    @MethodSource("transports")
    void whatIsShownOfTreesThatProgramsMadeStays(TransportChoice transport) throws Exception {
        String folder = SharedAlluxio.folder();
        OffsetClock clock = new OffsetClock();
        List<String> noted;
        try (AlluxioFileSystem first = SharedAlluxio.open(folder, OPTIONS, clock);
                MountedFileSystem mounted = MountedFileSystem.mount(first, transport)) {
            make(mounted.root());
            noted = stated(mounted.root());
            assertThat(noted).hasSizeGreaterThan(FILES);
            Command.run(SECONDS, "tar", "-C", mounted.root().toString(), "-cf", "/dev/null", ".");
            assertThat(stated(mounted.root())).as("when it was read").isEqualTo(noted);
            clock.advance(LONGER_THAN_ATTRIBUTES_LIVE);
            first.invalidate("/");
            assertThat(stated(mounted.root())).as("when nothing is cached").isEqualTo(noted);
            try (MountedFileSystem second = MountedFileSystem.mount(SharedAlluxio.open(folder, OPTIONS), transport)) {
                assertThat(stated(second.root())).as("on another mount").isEqualTo(noted);
            }
            clock.advance(LONGER_THAN_ATTRIBUTES_LIVE);
            first.invalidate("/");
            assertThat(stated(mounted.root())).as("later").isEqualTo(noted);
        }
        try (MountedFileSystem anew = MountedFileSystem.mount(SharedAlluxio.open(folder, OPTIONS), transport)) {
            assertThat(stated(anew.root())).as("mounted anew").isEqualTo(noted);
        }
    }
}
