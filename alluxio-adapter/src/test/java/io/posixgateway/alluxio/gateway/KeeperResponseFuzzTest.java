package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.posixgateway.alluxio.harness.ByteMutator;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever a keeper sends, reading it ends with a result or with the error that its callers expect.
 *
 * <p>Lines are made by changing those of the corpus, {@code src/test/resources/fuzz/keeper}; what a run finds belongs there. A run is
 * short; {@code -Dpgw.fuzz.seconds=60} makes it longer, {@code -Dpgw.seed} repeats one.
 */
class KeeperResponseFuzzTest {
    private static final Path CORPUS = Path.of("src/test/resources/fuzz/keeper");
    private static final int MIN_ROUNDS = 1_000;
    private static final long SECONDS = Long.getLong("pgw.fuzz.seconds", 0);
    private static final long SEED = Long.getLong("pgw.seed", Clock.system().nanos());

    private final ByteMutator mutator = new ByteMutator(SEED);

    private interface Read {
        Object from(KeeperResponse response) throws KeeperException;
    }

    /** What is read of a response; the corpus has folders of these names. */
    private record Kind(String name, Read read) {
        List<Path> seeds() throws IOException {
            try (Stream<Path> files = Files.list(CORPUS.resolve(name))) {
                return files.sorted().toList();
            }
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Kind> kinds() {
        return Stream.of(
                new Kind("list", KeeperResponse::sessions),
                new Kind("take", KeeperResponse::taken),
                new Kind("info", KeeperResponse::pid),
                new Kind("notify", KeeperResponse::errno),
                new Kind("record", KeeperResponse::record),
                new Kind("failure", KeeperResponse::pid));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void read_anyLine_endsAsItIsMeantTo(Kind kind) throws IOException {
        Clock clock = Clock.system();
        List<Path> seeds = kind.seeds();
        assertThat(seeds).isNotEmpty();
        long until = clock.nanos() + TimeUnit.SECONDS.toNanos(SECONDS);
        for (int round = 0; round < MIN_ROUNDS || clock.nanos() < until; round++) {
            Path file = seeds.get(round % seeds.size());
            byte[] seed = Files.readAllBytes(file);
            byte[] bytes = round < seeds.size() ? seed : mutator.changed(seed);
            String line = new String(bytes, StandardCharsets.UTF_8);
            boolean isWell =
                    round < seeds.size() && file.getFileName().toString().startsWith("a-well");
            try {
                Object read = kind.read.from(KeeperResponse.parse(line));
                assertThat(read).isNotNull();
                assertThat(isWell || round >= seeds.size())
                        .as("%s is read", file)
                        .isTrue();
            } catch (KeeperException meant) {
                assertThat(isWell).as("%s: %s", file, meant.getMessage()).isFalse();
            } catch (RuntimeException | Error e) {
                fail(
                        "%s of '%s'; add it to %s; again with -Dpgw.seed=%d"
                                .formatted(e, line, CORPUS.resolve(kind.name), SEED),
                        e);
            }
        }
    }
}
