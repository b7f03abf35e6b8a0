package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NameCodecTest {
    private static final long SEED = 20261126;
    private static final int ROUNDS = 200_000;
    /** What random names and texts are made of, so that they often look like escapes. */
    private static final List<String> PARTS = List.of(
            "%pgw%",
            "%pgw",
            "%",
            "%25",
            "%3F",
            "%3f",
            "%5C",
            "%FF",
            "%41",
            "%2F",
            "%00",
            "%C3%A9",
            "%2E",
            "a",
            "?",
            "\\",
            "é",
            "\uFFFD",
            "\uFEFF",
            "😀",
            ".",
            "..",
            " ",
            "\n",
            "~",
            ".pgw~",
            "%25pgw%25",
            "F",
            "2",
            "5");

    private final NameCodec names = NameCodec.ESCAPED;

    private static Name name(byte[] bytes) {
        return Name.of(bytes);
    }

    private static Name latin(String text) {
        return name(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    @ParameterizedTest
    @CsvSource({
        "what?, %pgw%what%3F",
        "back\\slash, %pgw%back%5Cslash",
        "50%?, %pgw%50%25%3F",
        "%pgw%what%3F, %pgw%%25pgw%25what%253F",
        "é?, %pgw%é%3F"
    })
    void stored_ofTextThatAlluxioWouldChange_isEscaped(String shown, String stored) {
        assertThat(names.stored(Name.of(shown))).isEqualTo(stored);
        assertThat(names.shown(stored)).isEqualTo(Name.of(shown));
    }

    @ParameterizedTest
    @CsvSource({
        "a\u00FF, %pgw%a%FF",
        "\u00C3\u00A9\u00E9, %pgw%é%E9",
        "\u00ED\u00B2\u0080, %pgw%%ED%B2%80",
        "\u00C0\u00AF, %pgw%%C0%AF",
        "\u00E2\u0082, %pgw%%E2%82",
        "\u00F4\u0090\u0080\u0080, %pgw%%F4%90%80%80",
        "\u00F0\u0080\u0080\u0080, %pgw%%F0%80%80%80"
    })
    void stored_ofBytesThatAreNoUtf8_isEscaped(String bytes, String stored) {
        assertThat(names.stored(latin(bytes))).isEqualTo(stored);
        assertThat(names.shown(stored)).isEqualTo(latin(bytes));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "plain",
                "with space",
                "new\nline",
                "100%",
                "%3F",
                "%pgw",
                "pgw%",
                "é",
                "e\u0301",
                "\uFFFD",
                "\uFEFFx",
                "\uFFFF",
                "😀",
                "a:b",
                "C:",
                "~",
                "...",
                "\u0001",
                "\u007F",
                "\u2028",
                "%pgw%",
                "%pgw%x",
                "%pgw%%3f",
                "%pgw%a%3",
                "%pgw%%41%3F",
                "%pgw%a%2Fb%3F",
                "%pgw%%00%3F",
                "%pgw%%2E%2E",
                "%pgw%%C3%A9%FF",
                "%pgw%%25%3F%",
                "%pgw%%25pgw%25x"
            })
    void stored_ofOtherNames_isTheName(String name) {
        assertThat(names.stored(Name.of(name))).isEqualTo(name);
        assertThat(names.stored(name.getBytes(StandardCharsets.UTF_8))).isEqualTo(name);
        assertThat(names.shown(name)).isEqualTo(Name.of(name));
        assertThat(names.refusal(Name.of(name))).isZero();
    }

    @Test
    void shown_ofStored_isTheName_andNoTwoNamesAreStoredAsOne() {
        Random random = new Random(SEED);
        Map<String, Name> all = new HashMap<>();
        for (int i = 0; i < ROUNDS; i++) {
            Name name = name(randomBytes(random));
            String stored = names.stored(name);
            assertThat(names.shown(stored)).as("seed %d, round %d", SEED, i).isEqualTo(name);
            assertThat(names.stored(name.toBytes())).isEqualTo(stored);
            assertThat(NameCodec.isAddressable(stored)).isTrue();
            assertThat(stored).doesNotContain("/").isNotIn("", ".", "..");
            assertThat(new String(stored.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
                    .isEqualTo(stored);
            Name other = all.putIfAbsent(stored, name);
            assertThat(other == null || other.equals(name)).as("%s", stored).isTrue();
            boolean fits = stored.getBytes(StandardCharsets.UTF_8).length <= Name.MAX_BYTES;
            assertThat(names.refusal(name)).isEqualTo(fits ? 0 : -Errno.ENAMETOOLONG);
        }
    }

    @Test
    void stored_ofShown_isTheText_andNoTwoTextsAreShownAsOne() {
        Random random = new Random(SEED);
        Map<Name, String> all = new HashMap<>();
        for (int i = 0; i < ROUNDS; i++) {
            StringBuilder text = new StringBuilder(random.nextBoolean() ? NameCodec.MARK : "");
            for (int count = random.nextInt(5); count >= 0; count--) {
                text.append(PARTS.get(random.nextInt(PARTS.size())));
            }
            String stored = text.toString().replace("?", "").replace("\\", "");
            Name shown = names.shown(stored);
            assertThat(names.stored(shown)).as("seed %d, round %d", SEED, i).isEqualTo(stored);
            assertThat(shown.toString()).doesNotContain("/").doesNotContain("\0");
            assertThat(shown.toString().isEmpty()).isEqualTo(stored.isEmpty());
            String other = all.putIfAbsent(shown, stored);
            assertThat(other == null || other.equals(stored)).as("%s", shown).isTrue();
        }
    }

    private static byte[] randomBytes(Random random) {
        byte[] bytes;
        do {
            if (random.nextBoolean()) {
                bytes = new byte[1 + random.nextInt(random.nextInt(8) == 0 ? 255 : 8)];
                random.nextBytes(bytes);
            } else {
                StringBuilder text = new StringBuilder(random.nextBoolean() ? NameCodec.MARK : "");
                for (int count = random.nextInt(6); count >= 0; count--) {
                    text.append(PARTS.get(random.nextInt(PARTS.size())));
                }
                bytes = text.toString().getBytes(StandardCharsets.UTF_8);
                if (random.nextInt(4) == 0) {
                    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
                }
            }
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = bytes[i] == 0 || bytes[i] == '/' ? (byte) 'x' : bytes[i];
            }
        } while (Arrays.equals(bytes, new byte[] {'.'}) || Arrays.equals(bytes, new byte[] {'.', '.'}));
        return bytes;
    }

    @Test
    void refusal_ofNameThatGetsTooLong_isEnametoolong() {
        assertThat(names.refusal(Name.of("x".repeat(247) + "?"))).isZero();
        assertThat(names.refusal(Name.of("x".repeat(248) + "?"))).isEqualTo(-Errno.ENAMETOOLONG);
        assertThat(names.refusal(Name.of("x".repeat(255)))).isZero();
        assertThat(names.refusal(Name.of("x".repeat(256)))).isEqualTo(-Errno.ENAMETOOLONG);
        assertThat(names.refusal(latin("\u00FF".repeat(83)))).isZero();
        assertThat(names.refusal(latin("\u00FF".repeat(84)))).isEqualTo(-Errno.ENAMETOOLONG);
        assertThat(names.refusal(Name.of("é".repeat(123) + "?"))).isZero();
        assertThat(names.refusal(Name.of("é".repeat(124) + "?"))).isEqualTo(-Errno.ENAMETOOLONG);
    }

    @Test
    void strict_refusesWhatAlluxioWouldChange_andShowsTheRestAsStored() {
        NameCodec strict = NameCodec.STRICT;
        assertThat(strict.refusal(Name.of("what?"))).isEqualTo(-Errno.EINVAL);
        assertThat(strict.refusal(Name.of("a\\b"))).isEqualTo(-Errno.EINVAL);
        assertThat(strict.refusal(latin("a\u00FF"))).isEqualTo(-Errno.EINVAL);
        assertThat(strict.refusal(Name.of("\uFFFD"))).isZero();
        assertThat(strict.shown("%pgw%what%3F")).isEqualTo(Name.of("%pgw%what%3F"));
        assertThat(strict.stored(Name.of("%pgw%what%3F"))).isEqualTo("%pgw%what%3F");
    }

    @Test
    void storedPath_takesNamesAsShownAndAsStored() {
        assertThat(names.storedPath("/a/what?/b")).isEqualTo("/a/%pgw%what%3F/b");
        assertThat(names.storedPath("/a/%pgw%what%3F/b")).isEqualTo("/a/%pgw%what%3F/b");
        assertThat(names.storedPath("/a/%pgw%what%3F/\\")).isEqualTo("/a/%pgw%what%3F/%pgw%%5C");
        assertThat(names.storedPath("/")).isEqualTo("/");
    }

    @Test
    void xattrs_keepTheCharactersThatPathsDoNot() {
        assertThat(NameCodec.XATTRS.stored(Name.of("user.a?b\\c"))).isEqualTo("user.a?b\\c");
        assertThat(NameCodec.XATTRS.stored(latin("user.\u00FF"))).isEqualTo("%pgw%user.%FF");
        assertThat(NameCodec.XATTRS.shown("%pgw%user.%FF")).isEqualTo(latin("user.\u00FF"));
    }

    @Test
    void refusal_ofNamesThatAreStoredAsTheyAre_allocatesNothing() {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Name[] all = {Name.of("plain"), Name.of("x".repeat(255)), Name.of("é".repeat(120)), Name.of("%41".repeat(50))};
        int refused = 0;
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 5; round++) { // the first ones load classes
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++) {
                refused += names.refusal(all[i & 3]);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(refused).isZero();
        assertThat(least).isLessThan(1000);
    }

    @ParameterizedTest
    @CsvSource({
        "'a\u0001', %pgw%a%01",
        "'\u001F', %pgw%%1F",
        "'x\uFFFE', %pgw%x%EF%BF%BE",
        "'\uFFFFx', %pgw%%EF%BF%BFx",
        "'5%\u0002?', %pgw%5%25%02%3F",
        "%pgw%a%01, %pgw%%25pgw%25a%2501"
    })
    void forObjectStore_escapesWhatItsListingsLack(String shown, String stored) {
        NameCodec objects = names.in(StoreNames.LISTED_AS_XML);
        assertThat(objects.stored(Name.of(shown))).isEqualTo(stored);
        assertThat(objects.stored(shown.getBytes(StandardCharsets.UTF_8))).isEqualTo(stored);
        assertThat(objects.shown(stored)).isEqualTo(Name.of(shown));
        assertThat(NameCodec.dependsOnStore(Name.of(shown))).isTrue();
        assertThat(names.shown(shown)).isEqualTo(Name.of(shown));
    }

    @Test
    void forObjectStore_mapsNoTwoNamesToOne_andBack() {
        NameCodec objects = names.in(StoreNames.LISTED_AS_XML);
        Random random = new Random(SEED);
        Map<String, Name> all = new HashMap<>();
        for (int i = 0; i < ROUNDS; i++) {
            Name name = name(randomBytes(random));
            String stored = objects.stored(name);
            assertThat(objects.shown(stored)).as("seed %d, round %d", SEED, i).isEqualTo(name);
            assertThat(objects.stored(name.toBytes())).isEqualTo(stored);
            assertThat(objects.isReachable(stored)).isTrue();
            assertThat(stored).doesNotContainPattern("[\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\uFFFE\uFFFF]");
            Name other = all.putIfAbsent(stored, name);
            assertThat(other == null || other.equals(name)).as("%s", stored).isTrue();
            if (!NameCodec.dependsOnStore(name)) {
                assertThat(stored).isEqualTo(names.stored(name));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "a:b, %pgw%a%3Ab",
        "::, %pgw%%3A%3A",
        "5%:?, %pgw%5%25%3A%3F",
        "%pgw%a%3Ab, %pgw%%25pgw%25a%253Ab",
        "'a', 'a'"
    })
    void inHdfs_escapesColons(String shown, String stored) {
        NameCodec hdfs = names.in(StoreNames.WITHOUT_COLON);
        assertThat(hdfs.stored(Name.of(shown))).isEqualTo(stored);
        assertThat(hdfs.stored(shown.getBytes(StandardCharsets.UTF_8))).isEqualTo(stored);
        assertThat(hdfs.shown(stored)).isEqualTo(Name.of(shown));
        assertThat(hdfs.storedPath("/d:/a")).isEqualTo("/%pgw%d%3A/a");
        assertThat(hdfs.isReachable(stored)).isTrue();
        assertThat(hdfs.isReachable("a:b")).isFalse();
        assertThat(NameCodec.dependsOnStore(Name.of(shown))).isTrue();
        assertThat(names.stored(Name.of("a:b"))).isEqualTo("a:b");
    }

    @Test
    void inHdfs_ofStrictNames_refusesColons() {
        NameCodec strict = NameCodec.STRICT.in(StoreNames.WITHOUT_COLON);
        assertThat(strict.refusal(Name.of("a:b"))).isEqualTo(-Errno.EINVAL);
        assertThat(strict.refusal(Name.of("a"))).isZero();
        assertThat(NameCodec.STRICT.refusal(Name.of("a:b"))).isZero();
    }

    @Test
    void forObjectStore_ofStrictNames_refusesWhatItsListingsLack() {
        NameCodec strict = NameCodec.STRICT.in(StoreNames.LISTED_AS_XML);
        assertThat(strict.refusal(Name.of("a\u0001"))).isEqualTo(-Errno.EINVAL);
        assertThat(strict.refusal(Name.of("a\uFFFF"))).isEqualTo(-Errno.EINVAL);
        assertThat(strict.refusal(Name.of("a\tb\nc\rd\uFFFDe\u007F"))).isZero();
        assertThat(NameCodec.STRICT.refusal(Name.of("a\u0001"))).isZero();
    }
}
