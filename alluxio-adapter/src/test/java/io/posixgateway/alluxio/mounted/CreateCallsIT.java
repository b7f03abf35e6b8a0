package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.client.MasterCalls;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.time.OffsetClock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What making files costs, in calls to Alluxio's master; each is a time to wait for every program that makes files. */
class CreateCallsIT {
    private static final int FILES = 40;
    private static final int BYTES = 19_000;
    /** Alluxio's streams are opened on what the master said within two seconds. */
    private static final Duration NO_LONGER_RECENT = Duration.ofMillis(2_200);
    /** A younger file may still get another name, and workers do not keep what they fetch of it. */
    private static final Duration SETTLED = Duration.ofMillis(30_500);

    @Test
    void aSmallFileTakesThreeCallsToTheMaster() throws Exception {
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem mounted = MountedFileSystem.mount(
                SharedAlluxio.open(folder, Map.of("metadata_ttl", "1h", "negative_ttl", "1h")), TransportChoice.AUTO)) {
            Path made = Files.createDirectory(mounted.root().resolve("made"));
            assertThat(askedWhenWrittenIn(made))
                    .containsOnly(
                            Map.entry("CreateFile", (long) FILES),
                            Map.entry("SetAttribute", (long) FILES),
                            Map.entry("CompleteFile", (long) FILES));
            for (int i = 0; i < FILES; i++) {
                assertThat(made.resolve("f" + i)).hasBinaryContent(content(i));
                assertThat(SharedAlluxio.ufs(folder).resolve("made/f" + i)).hasBinaryContent(content(i));
            }
        }
        try (Store store = AlluxioMount.connect(SharedAlluxio.at("/"), SharedAlluxio.options(Map.of()))) {
            FileStatus status = store.status(folder + "/made/f1");
            assertThat(status.lengthBytes()).isEqualTo(BYTES);
            assertThat(store.localBlockFolder(folder + "/made/f1"))
                    .as("cached in the worker")
                    .isNotNull();
        }
    }

    @Test
    void aSmallFileThatGoesToWorkersAloneTakesOneMoreForTheNumberOfItsBlock() throws Exception {
        Map<String, String> options = Map.of("metadata_ttl", "1h", "negative_ttl", "1h", "write_type", "MUST_CACHE");
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(SharedAlluxio.folder(), options), TransportChoice.AUTO)) {
            Path made = Files.createDirectory(mounted.root().resolve("made"));
            assertThat(askedWhenWrittenIn(made))
                    .containsOnly(
                            Map.entry("CreateFile", (long) FILES),
                            Map.entry("SetAttribute", (long) FILES),
                            Map.entry("GetNewBlockIdForFile", (long) FILES),
                            Map.entry("CompleteFile", (long) FILES));
            for (int i = 0; i < FILES; i++) {
                assertThat(made.resolve("f" + i)).hasBinaryContent(content(i));
            }
        }
    }

    /** What the master is asked for while files are made in a directory that this mount made. */
    private static Map<String, Long> askedWhenWrittenIn(Path made) throws Exception {
        Files.write(made.resolve("first"), content(0));
        Map<String, Long> before = MasterCalls.counts();
        for (int i = 0; i < FILES; i++) {
            Files.write(made.resolve("f" + i), content(i));
        }
        return MasterCalls.since(before);
    }

    @Test
    void smallFilesThatWereJustListedAreReadThroughStreamsWithoutAskingForEach() throws Exception {
        assertThat(askedForWhenReadAfter(Duration.ZERO)).isLessThan(FILES);
    }

    /** An epoch over a directory takes longer than its listing is new; what workers here have is still read without asking. */
    @Test
    void smallFilesThatWereListedAWhileAgoAreReadFromAWorkerHereWithoutAskingForEach() throws Exception {
        assertThat(askedForWhenReadAfter(NO_LONGER_RECENT)).isLessThan(FILES / 4);
    }

    /** Of such the workers are to keep what they fetch; what they have already, they give without anything else. */
    @Test
    void smallFilesThatWereWrittenAWhileAgoAreReadFromAWorkerHereWithoutAskingForEach() throws Exception {
        assertThat(askedForWhenReadAfter(SETTLED)).isLessThan(FILES / 4);
    }

    /** How many files the master is asked for when they are read over the network so long after they were written and listed. */
    private static long askedForWhenReadAfter(Duration pause) throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, String> options =
                Map.of("short_circuit", "off", "metadata_ttl", "1h", "negative_ttl", "1h", "open_trust", "1h");
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO)) {
            for (int i = 0; i < FILES; i++) {
                Files.write(mounted.root().resolve("f" + i), content(i));
            }
        }
        Duration afterListing = pause.compareTo(NO_LONGER_RECENT) < 0 ? pause : NO_LONGER_RECENT;
        OffsetClock clock = new OffsetClock();
        clock.advance(pause.minus(afterListing));
        try (MountedFileSystem mounted = MountedFileSystem.mount(
                AlluxioMount.open(SharedAlluxio.at(folder), SharedAlluxio.options(options), clock),
                TransportChoice.AUTO)) {
            clock.stop();
            try (var names = Files.list(mounted.root())) {
                assertThat(names).hasSize(FILES);
            }
            clock.advance(afterListing);
            Map<String, Long> before = MasterCalls.counts();
            for (int i = 0; i < FILES; i++) {
                assertThat(mounted.root().resolve("f" + i)).hasBinaryContent(content(i));
            }
            return MasterCalls.since(before).getOrDefault("GetStatus", 0L);
        }
    }

    private static byte[] content(int number) {
        byte[] content = new byte[BYTES];
        Arrays.fill(content, (byte) number);
        return content;
    }
}
