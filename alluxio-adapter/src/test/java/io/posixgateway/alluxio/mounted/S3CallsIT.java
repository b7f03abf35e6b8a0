package io.posixgateway.alluxio.mounted;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.S3Server;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * What operations cost on an object store, in requests that a real S3 server counts: docs/semantics.md has the table. Of the long form,
 * as it has the server for itself.
 */
@EnabledIfSystemProperty(named = "pgw.under.store", matches = "s3", disabledReason = "of the long form: make s3-test")
class S3CallsIT {
    private static final Path DOCS = Path.of("..", "docs", "semantics.md");
    /** The same figures, which `make check` compares with the table. */
    private static final Path MEASURED = Path.of("src", "test", "resources", "s3-requests.json");

    private static final String BEGIN = "<!-- S3 requests: of S3CallsIT -->\n";
    private static final String END = "<!-- end -->\n";
    private static final String WRITE = "pgw.docs.write";
    /** What the mount knows stays known, however slow the machine is. */
    private static final Map<String, String> KNOWN_FOR_LONG = Map.of("metadata_ttl", "1h", "negative_ttl", "1h");

    private static final List<String> TYPES = List.of("PUT", "COPY", "GET", "LIST", "DELETE", "POST");

    /** Each operation is counted so often, after it was done once. */
    private static final int TIMES = 10;
    /** What the docs may say more, or less: some of Alluxio's requests depend on what runs at the same time. */
    private static final double TOLERANCE = 0.15;
    /** Files of the larger directory; the long form gives another number. */
    private static final int FILES = Integer.getInteger("pgw.s3.files", 100);
    /** One listing of S3 tells so many keys. */
    private static final int PAGE = 1000;
    /** What a directory costs whatever is in it. */
    private static final long DIRECTORY = 20;

    private static final int ALL = 1 + TIMES;

    private static final byte[] CONTENT = new byte[1024];
    private static final byte[] OTHER_CONTENT = "x".repeat(1024).getBytes(UTF_8);

    private EmbeddedAlluxio alluxio;
    private S3Server bucket;
    private String folder;
    private MountedFileSystem mounted;
    private MountedFileSystem inPlace;
    private Path root;

    @BeforeEach
    void mount(@TempDir Path spool) throws Exception {
        alluxio = Clusters.onS3();
        bucket = Objects.requireNonNull(alluxio.s3());
        folder = "calls-" + Long.toUnsignedString(System.identityHashCode(this), 36);
        try (Store store = AlluxioMount.connect(at("/"), SharedAlluxio.options(Map.of()))) {
            store.makeDirectory("/" + folder, 0777, Map.of());
        }
        mounted = MountedFileSystem.mount(
                AlluxioMount.open(at("/" + folder), SharedAlluxio.options(KNOWN_FOR_LONG)), TransportChoice.AUTO);
        root = mounted.root();
        inPlace = MountedFileSystem.mount(
                S3OverwriteIT.inPlace(at("/" + folder), spool, KNOWN_FOR_LONG), TransportChoice.AUTO);
    }

    @AfterEach
    void unmount() throws Exception {
        for (MountedFileSystem each : Arrays.asList(mounted, inPlace)) {
            if (each != null) {
                each.close();
            }
        }
    }

    private AlluxioOptions at(String path) {
        return AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + path);
    }

    /** Something that is done many times, each time to another file. */
    private interface Operation {
        void run(int number) throws IOException;
    }

    /** What it costs the bucket with each of these numbers, by the type of the requests. */
    private Map<String, Long> requests(int first, int behind, Operation operation) throws IOException {
        Map<String, Long> before = bucket.requests();
        for (int i = first; i < behind; i++) {
            operation.run(i);
        }
        Map<String, Long> counts = new TreeMap<>();
        bucket.requests().forEach((type, count) -> counts.put(type, count - before.getOrDefault(type, 0L)));
        return counts;
    }

    private static long sum(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Adds the row of an operation to the table. */
    private void measure(List<String> table, String name, Operation operation) throws IOException {
        operation.run(0);
        Map<String, Long> counts = requests(1, ALL, operation);
        StringBuilder row = new StringBuilder("| ").append(name).append(" |");
        for (String type : TYPES) {
            row.append(' ').append(each(counts.getOrDefault(type, 0L))).append(" |");
        }
        table.add(row.append(' ').append(each(sum(counts))).append(" |").toString());
    }

    private static void assertAlike(String row, String documented) {
        String[] measured = row.split(" *\\| *", -1);
        String[] expected = documented.split(" *\\| *", -1);
        assertThat(measured).hasSameSizeAs(expected).startsWith(expected[0], expected[1]);
        for (int i = 2; i < measured.length - 1; i++) { // behind the last bar is nothing
            long count = Long.parseLong(expected[i]);
            assertThat(Long.parseLong(measured[i]))
                    .as("%s, where the docs say %s", row, documented)
                    .isCloseTo(count, within(count == 0 ? 0 : Math.max(1, Math.round(count * TOLERANCE))));
        }
    }

    private static long each(long count) {
        return Math.round((double) count / TIMES);
    }

    @Test
    void each_operation_costs_what_the_docs_say() throws Exception {
        List<String> table = new ArrayList<>();
        table.add("| of 1 KiB, in a directory that this mount knows | "
                + String.join(" | ", TYPES).replace("GET", "GET, HEAD") + " | all |");
        table.add("|---|" + "---|".repeat(TYPES.size() + 1));
        assertThat(names(root)).isZero();
        for (int i = 0; i < ALL; i++) {
            bucket.put(folder + "/others/o" + i, CONTENT);
        }
        files(table);
        directories(table);
        String docs = Files.readString(DOCS);
        int begin = docs.indexOf(BEGIN) + BEGIN.length();
        int end = docs.indexOf(END, begin);
        if (Boolean.getBoolean(WRITE)) {
            Files.writeString(DOCS, docs.substring(0, begin) + String.join("\n", table) + "\n" + docs.substring(end));
            Files.writeString(MEASURED, json(table.subList(2, table.size())));
            return;
        }
        List<String> documented = docs.substring(begin, end).lines().toList();
        assertThat(documented).as("-D%s=true writes the table anew", WRITE).hasSameSizeAs(table);
        assertThat(documented.subList(0, 2)).isEqualTo(table.subList(0, 2));
        for (int i = 2; i < table.size(); i++) {
            assertAlike(table.get(i), documented.get(i));
        }
    }

    private static String json(List<String> rows) {
        List<String> columns = new ArrayList<>(TYPES);
        columns.add("all");
        List<String> lines = new ArrayList<>();
        for (String row : rows) {
            String[] cells = row.split(" *\\| *", -1);
            StringBuilder line =
                    new StringBuilder("{\"operation\": \"").append(cells[1]).append('"');
            for (int i = 0; i < columns.size(); i++) {
                line.append(", \"").append(columns.get(i)).append("\": ").append(cells[i + 2]);
            }
            lines.add(line.append('}').toString());
        }
        return "[\n" + String.join(",\n", lines) + "\n]\n";
    }

    private static long names(Path directory) throws IOException {
        try (Stream<Path> names = Files.list(directory)) {
            return names.count();
        }
    }

    private void files(List<String> table) throws IOException {
        measure(table, "create, write and close a file", i -> Files.write(root.resolve("f" + i), CONTENT));
        measure(table, "`stat` of a known file", i -> Files.size(root.resolve("f" + i)));
        measure(table, "read a file that a worker has", i -> Files.readAllBytes(root.resolve("f" + i)));
        measure(table, "replace a file by `>`", i -> Files.write(root.resolve("f" + i), CONTENT));
        measure(table, "append to a file", i -> Files.write(root.resolve("f" + i), CONTENT, StandardOpenOption.APPEND));
        for (int i = 0; i < ALL; i++) {
            Files.write(inPlace.root().resolve("p" + i), CONTENT);
        }
        measure(
                table,
                "replace a file by `>` with `replace=in-place`",
                i -> Files.write(inPlace.root().resolve("p" + i), OTHER_CONTENT));
        measure(
                table,
                "`chmod`",
                i -> Files.setPosixFilePermissions(
                        root.resolve("f" + i), PosixFilePermissions.fromString("rw-rw-rw-")));
        measure(table, "rename a file to a free name", i -> Files.move(root.resolve("f" + i), root.resolve("g" + i)));
        for (int i = 0; i < ALL; i++) {
            Files.write(root.resolve("f" + i), CONTENT);
            Files.write(root.resolve("u" + i), CONTENT);
        }
        measure(
                table,
                "rename a file over another",
                i -> Files.move(
                        root.resolve("f" + i),
                        root.resolve("g" + i),
                        StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING));
        measure(table, "`unlink`", i -> Files.delete(root.resolve("u" + i)));
        measure(
                table,
                "find, open and read an object that another client put there",
                i -> Files.readAllBytes(root.resolve("others/o" + i)));
    }

    private void directories(List<String> table) throws IOException {
        measure(table, "`mkdir`", i -> Files.createDirectory(root.resolve("d" + i)));
        measure(table, "list a directory that this mount made", i -> assertThat(names(root.resolve("d" + i)))
                .isZero());
        measure(table, "`rmdir` of one", i -> Files.delete(root.resolve("d" + i)));
        for (int i = 0; i < ALL; i++) {
            Path directory = Files.createDirectory(root.resolve("r" + i));
            for (int file = 0; file < 4; file++) {
                Files.write(directory.resolve("f" + file), CONTENT);
            }
        }
        measure(
                table,
                "rename a directory with four files",
                i -> Files.move(root.resolve("r" + i), root.resolve("s" + i), StandardCopyOption.ATOMIC_MOVE));
    }

    @Test
    void a_directory_of_files_costs_in_proportion_to_their_number() throws Exception {
        long half = fillListAndRemove("half", FILES / 2);
        for (int i = 0; i < (FILES < PAGE ? 0 : PAGE + 1); i++) {
            bucket.put("beside-" + folder + "/o" + i, CONTENT); // a second part in any listing of the whole bucket
        }
        long whole = fillListAndRemove("whole", FILES);
        System.out.printf("S3 requests: %d files %d, %d files %d%n", FILES / 2, half, FILES, whole);
        assertThat(whole).isLessThanOrEqualTo(2 * half + DIRECTORY);
    }

    private long fillListAndRemove(String name, int files) throws IOException {
        Path directory = root.resolve(name);
        Map<String, Long> counts = requests(0, 1, once -> {
            Files.createDirectory(directory);
            for (int i = 0; i < files; i++) {
                Files.write(directory.resolve("f" + i), CONTENT);
            }
            assertThat(names(directory)).isEqualTo(files);
            for (int i = 0; i < files; i++) {
                Files.delete(directory.resolve("f" + i));
            }
            Files.delete(directory);
        });
        System.out.printf("S3 requests for %d files: %s%n", files, counts);
        return sum(counts);
    }
}
