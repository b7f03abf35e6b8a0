package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.posixgateway.alluxio.harness.ByteMutator;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever bytes stand in a file of a volume's folder, reading it ends with a record, with none, or with an error that is meant.
 *
 * <p>Files are made by changing those of the corpus, {@code src/test/resources/fuzz/records}; what a run finds belongs there. A run is
 * short; {@code -Dpgw.fuzz.seconds=60} makes it longer, {@code -Dpgw.seed} repeats one.
 */
class RecordsFuzzTest {
    private static final Path CORPUS = Path.of("src/test/resources/fuzz/records");
    private static final int MIN_ROUNDS = 150;
    private static final long SECONDS = Long.getLong("pgw.fuzz.seconds", 0);
    private static final long SEED = Long.getLong("pgw.seed", Clock.system().nanos());

    private final Path folder;
    private final ByteMutator mutator = new ByteMutator(SEED);

    RecordsFuzzTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private interface Read {
        void from(Path folder) throws IOException, StoreException;
    }

    /** What is read, of which name; the corpus has its files in folders of these names. */
    private record Kind(String file, Read read) {
        List<Path> seeds() throws IOException {
            try (Stream<Path> files = Files.list(CORPUS.resolve(file))) {
                return files.sorted().toList();
            }
        }

        @Override
        public String toString() {
            return file;
        }
    }

    static Stream<Kind> kinds() {
        return Stream.of(
                new Kind("spool-1.draft", folder -> {
                    Path file = folder.resolve("spool-1.draft");
                    DirtyFileRecord.ids(file);
                    DirtyFileRecord.read(file);
                }),
                new Kind("aside/spool-1.why", RecordsFuzzTest::listAside),
                new Kind("spool-1.origin", folder -> Origin.read(folder.resolve("spool-1.origin"))),
                new Kind("volume", RecordsFuzzTest::openFolder),
                new Kind("nodes", RecordsFuzzTest::openFolder),
                new Kind("foreign-nodes", RecordsFuzzTest::openFolder),
                new Kind("blocks", RecordsFuzzTest::openFolder),
                new Kind("hidden-1-of.another-1", folder -> {
                    new SillyRenames(own(folder)).inherit();
                }),
                new Kind("renames-1-of.another-1", folder -> {
                    new RenameLog(own(folder)).over.inherit();
                }),
                new Kind("directories-1-of.another-1", folder -> {
                    new DirectoryRenameLog(own(folder)).inherit();
                }),
                new Kind("journal", RecordsFuzzTest::continueJournal));
    }

    private static VolumeJournal own(Path folder) throws IOException {
        return VolumeJournal.own(folder, "c", new Reserve(folder, "reserve"));
    }

    /** What is read of it is taken off, and what cannot be read stays. */
    private static void continueJournal(Path folder) throws IOException {
        try (VolumeJournal journal = own(folder)) {
            journal.withheld();
            SillyRenames hidden = new SillyRenames(journal);
            hidden.inherit().forEach(hidden::remove);
            RenameLog renames = new RenameLog(journal);
            renames.over.inherit().forEach(renames.over::remove);
            renames.free.inherit();
            new DirectoryRenameLog(journal).inherit();
        }
    }

    /** What was set aside is listed, whatever is written beside it. */
    private static void listAside(Path folder) throws IOException {
        Path content = folder.resolve("aside/spool-1");
        Files.writeString(content, "content");
        List<SetAside.Item> items = new SetAside(folder).items();
        assertThat(items).hasSize(1);
        assertThat(items.get(0).content()).isEqualTo(content);
        assertThat(items.get(0).path() + items.get(0).why()).doesNotContain("\n");
    }

    private static void openFolder(Path folder) throws StoreException {
        try (VolumeStateDir opened = VolumeStateDir.open(folder)) {
            opened.identity();
            opened.clusterId();
            opened.foreignNodes();
            opened.blockFolder();
            opened.rootId();
            opened.nodes().inherited();
            opened.nodes().inheritedDirectories();
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void read_anyBytes_endsAsItIsMeantTo(Kind kind) throws IOException {
        Clock clock = Clock.system();
        List<Path> seeds = kind.seeds();
        assertThat(seeds).isNotEmpty();
        long until = clock.nanos() + TimeUnit.SECONDS.toNanos(SECONDS);
        for (int round = 0; round < MIN_ROUNDS || clock.nanos() < until; round++) {
            byte[] seed = Files.readAllBytes(seeds.get(round % seeds.size()));
            byte[] bytes = round < seeds.size() ? seed : mutator.changed(seed);
            Path file = folder.resolve(kind.file);
            Files.createDirectories(file.getParent());
            Files.write(file, bytes);
            try {
                kind.read.from(folder);
            } catch (StoreException | IOException meant) {
                assertThat(round).as("a file of the corpus that is well").isGreaterThanOrEqualTo(wellFormed(seeds));
            } catch (RuntimeException | Error e) {
                fail(
                        "%s of %s; add it to %s; again with -Dpgw.seed=%d"
                                .formatted(e, HexFormat.of().formatHex(bytes), CORPUS.resolve(kind.file), SEED),
                        e);
            }
        }
    }

    /** Files that begin with "well" are read without an error by every version, and come before what was found. */
    private static int wellFormed(List<Path> seeds) {
        return (int) seeds.stream()
                .filter(seed -> seed.getFileName().toString().startsWith("a-well"))
                .count();
    }
}
