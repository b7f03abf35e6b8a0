package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.gateway.FileSystemFactory;
import io.posixgateway.alluxio.gateway.ServiceException;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An alluxio-site.properties that says what is an option of a mount here. */
class SitePropertiesIT {
    private static final int BYTES = 100_000;
    private static final String WRITE_TYPE = "alluxio.user.file.writetype.default=";
    private static final String SHORT_CIRCUIT = "alluxio.user.short.circuit.enabled=";

    @TempDir
    private Path scratch = Path.of("");

    private AlluxioFileSystem open(String folder, String site, Map<String, String> options) throws Exception {
        Path file = Files.writeString(scratch.resolve("alluxio-site.properties"), site);
        return new FileSystemFactory(file, scratch.resolve("spool"), Clock.system())
                .openToServe(SharedAlluxio.at(folder), FileSystemFactory.OPTIONS.read(options));
    }

    private static Map<String, String> option(String name, String value) {
        return value.equals("none") ? Map.of() : Map.of(name, value);
    }

    @ParameterizedTest
    @CsvSource({
        "MUST_CACHE, none, true, false",
        "through, none, false, true",
        "MUST_CACHE, THROUGH, false, true",
        "THROUGH, MUST_CACHE, true, false"
    })
    void filesGoWhereItSaysUnlessTheMountSaysOtherwise(String site, String given, boolean inWorkers, boolean below)
            throws Exception {
        String folder = SharedAlluxio.folder();
        AlluxioFileSystem fs = open(folder, WRITE_TYPE + site, option("write_type", given));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            Files.writeString(mounted.root().resolve("f"), "made");
            boolean held =
                    !fs.store().details(folder + "/f").blocks().get(0).places().isEmpty();
            assertThat(held).isEqualTo(inWorkers);
            assertThat(Files.exists(SharedAlluxio.ufs(folder).resolve("f"))).isEqualTo(below);
        }
    }

    @ParameterizedTest
    @CsvSource({"false, none, false", "true, none, true", "false, on, true", "true, off, false"})
    void blocksAreReadAsFilesWhereItSaysSoUnlessTheMountSaysOtherwise(String site, String given, boolean local)
            throws Exception {
        String folder = SharedAlluxio.folder();
        byte[] content = new byte[BYTES];
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            Files.write(mounted.root().resolve("f"), content);
        }
        AlluxioFileSystem fs = open(folder, SHORT_CIRCUIT + site, option("short_circuit", given));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            assertThat(mounted.root().resolve("f")).hasBinaryContent(content);
            assertThat(fs.counts().localReadBytes()).isEqualTo(local ? BYTES : 0);
            assertThat(fs.counts().remoteReadBytes()).isEqualTo(local ? 0 : BYTES);
        }
    }

    /** As one for another cluster does, in each way in which it can. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "alluxio.master.hostname=127.0.0.2\nalluxio.master.rpc.port=1",
                "alluxio.master.rpc.addresses=127.0.0.2:1",
                "alluxio.master.rpc.addresses=127.0.0.2:1,127.0.0.3:1",
                "alluxio.master.embedded.journal.addresses=127.0.0.2:1,127.0.0.3:1",
                "alluxio.zookeeper.enabled=true\nalluxio.zookeeper.address=127.0.0.2:1"
            })
    void theMastersOfTheUriCountWhateverMastersItNames(String site) throws Exception {
        AlluxioFileSystem fs = open(SharedAlluxio.folder(), site, Map.of());
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            Files.writeString(mounted.root().resolve("f"), "made");
            assertThat(mounted.root().resolve("f")).hasContent("made");
        }
    }

    @Test
    void namesThatAlluxioDoesNotKnowAreLoggedAndTheMountIsMade() throws Exception {
        String site = """
                alluxio.fuse.of.another.version=1
                alluxio.user.of.another.version=1
                fs.of.another.program=1
                alluxio.user.block.size.bytes.default=16MB
                """;
        String folder = SharedAlluxio.folder();
        try (LogLines log = new LogLines()) {
            AlluxioFileSystem fs = open(folder, site, Map.of());
            assertThat(log.with("The Alluxio client does not know property"))
                    .hasSize(3)
                    .anyMatch(line -> line.contains("property alluxio.fuse.of.another.version of " + scratch))
                    .anyMatch(line -> line.contains("property alluxio.user.of.another.version of "))
                    .anyMatch(line -> line.contains("property fs.of.another.program of "));
            try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
                Files.writeString(mounted.root().resolve("f"), "made");
                assertThat(fs.store().details(folder + "/f").status().blockBytes())
                        .isEqualTo(16 << 20);
            }
        }
    }

    @Test
    void aValueThatTheOptionDoesNotAllowIsRefused() {
        assertThatThrownBy(() -> open("/", WRITE_TYPE + "NONE", Map.of()))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("property alluxio.user.file.writetype.default=NONE: option write_type=NONE is not"
                        + " allowed; write_type is one of CACHE_THROUGH");
    }

    @Test
    void whatDoesNothingInItIsLoggedOnceForEachMount() throws Exception {
        String site = WRITE_TYPE + "THROUGH\n" + SHORT_CIRCUIT + """
                true
                alluxio.fuse.cached.paths.max=500
                alluxio.fuse.debug.enabled=false
                alluxio.user.block.size.bytes.default=16MB
                alluxio.user.client.cache.size=1GB
                alluxio.user.metadata.cache.expiration.time=10min
                """;
        try (LogLines log = new LogLines()) {
            open(SharedAlluxio.folder(), site, Map.of("short_circuit", "off")).close();
            assertThat(log.with("has no effect here"))
                    .containsExactly(
                            "Property alluxio.fuse.cached.paths.max has no effect here; it is replaced by cache_entries",
                            "Property alluxio.fuse.debug.enabled has no effect here; it is an option of AlluxioFuse"
                                    + " without"
                                    + " a counterpart; leave it out",
                            "Property alluxio.user.client.cache.size has no effect here; it is not needed: Alluxio's"
                                    + " workers and the kernel cache data; there is no third copy on disk",
                            "Property alluxio.user.metadata.cache.expiration.time has no effect here; it is replaced by"
                                    + " metadata_ttl",
                            "Property alluxio.user.short.circuit.enabled has no effect here; it is replaced by"
                                    + " short_circuit");
        }
    }
}
