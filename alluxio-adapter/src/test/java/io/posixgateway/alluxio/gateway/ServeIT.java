package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.posixgateway.alluxio.client.ShortTimeouts;
import io.posixgateway.alluxio.control.proto.AccessLines;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.control.proto.Cluster;
import io.posixgateway.alluxio.control.proto.DetachRequest;
import io.posixgateway.alluxio.control.proto.DiagnoseRequest;
import io.posixgateway.alluxio.control.proto.DirectoryRequest;
import io.posixgateway.alluxio.control.proto.DrainRequest;
import io.posixgateway.alluxio.control.proto.FollowAccessesRequest;
import io.posixgateway.alluxio.control.proto.InfoRequest;
import io.posixgateway.alluxio.control.proto.InvalidateRequest;
import io.posixgateway.alluxio.control.proto.ListRequest;
import io.posixgateway.alluxio.control.proto.MetricsRequest;
import io.posixgateway.alluxio.control.proto.PathInfoReply;
import io.posixgateway.alluxio.control.proto.PathInfoRequest;
import io.posixgateway.alluxio.control.proto.RenameDirectoryRequest;
import io.posixgateway.alluxio.control.proto.SetLogLevelRequest;
import io.posixgateway.alluxio.control.proto.StatsRequest;
import io.posixgateway.alluxio.control.proto.WarmupProgress;
import io.posixgateway.alluxio.control.proto.WarmupRequest;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.KernelLimits;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.conformance.QuietTime;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service with a real keeper and a real Alluxio, over its sockets. */
class ServeIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private static Path folder = Path.of("");

    private static TestDirectory own;
    private static Node node;
    private static String masters;

    @BeforeAll
    static void start() throws Exception {
        Built.keeper();
        Built.gateway();
        own = Clusters.directory(Clusters.oneWorker());
        masters = own.masters();
        node = new Node(folder, ShortTimeouts.javaOptions());
        node.awaitReady();
    }

    @AfterAll
    static void stop() throws Exception {
        if (node != null) {
            node.close();
        }
    }

    private static Path data(String name) throws Exception {
        Path data = Files.createDirectory(own.ufs().resolve(name));
        Files.writeString(data.resolve("file"), "text of " + name);
        return data;
    }

    private static void failsWith(Status.Code code, String text, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
            assertThat(e.getStatus().getCode()).isEqualTo(code);
            assertThat(e.getStatus().getDescription()).contains(text);
        });
    }

    @Test
    void what_a_waiting_process_reads_is_not_loaded_into_alluxio() throws Exception {
        data("beside");
        FileSystemFactory volumes = new FileSystemFactory(null, folder.resolve("spool-beside"), Clock.system());
        AlluxioOptions place = AlluxioOptions.ofUri(own.uri() + "/beside");
        OptionValues options = FileSystemFactory.OPTIONS.read(Map.of());
        volumes.connect(place, options).close();
        Entry entry = new Entry();
        try (AlluxioFileSystem beside = volumes.openBeside(place, options)) {
            JvmWarmup.use(beside, Clock.system());
            beside.lookup(InternalRequest.INSTANCE, FileSystem.ROOT, Name.of("file"), entry);
            assertThat(entry.node).isZero();
        }
        try (AlluxioFileSystem served = volumes.open(place, options)) {
            assertThat(served.lookup(InternalRequest.INSTANCE, FileSystem.ROOT, Name.of("file"), entry))
                    .isZero();
            assertThat(entry.node).isNotZero();
        }
    }

    @Test
    void a_standby_gets_ready_for_what_is_attached_while_it_waits() throws Exception {
        data("meanwhile");
        try (Program standby = node.startStandby()) {
            standby.awaitOutput("Ready; waiting", LIMIT);
            node.mount("meanwhile");
            node.control().attach(Node.request("meanwhile", masters, own.path() + "/meanwhile"));
            standby.awaitOutput("Volume meanwhile can be taken over", LIMIT);
            node.control()
                    .detach(DetachRequest.newBuilder().setVolume("meanwhile").build());
            standby.awaitOutput("Volume meanwhile has ended", LIMIT);
            node.unmount("meanwhile");
            assertThat(standby.output()).doesNotContain("listens at");
        }
    }

    @Test
    void a_volume_is_attached_served_and_detached_and_every_call_may_be_repeated() throws Exception {
        data("attached");
        Path mount = node.mount("vol-1");
        AttachRequest request = Node.request("vol-1", masters, own.path() + "/attached");
        String line = node.control().attach(request).getSessionLine();
        assertThat(line).contains("transport devfuse");
        assertThat(node.control().attach(request).getSessionLine()).isEqualTo(line);
        assertThat(mount.resolve("file")).hasContent("text of attached");
        assertThat(node.control().list(ListRequest.getDefaultInstance()).getVolumesList())
                .anySatisfy(volume -> {
                    assertThat(volume.getVolume()).isEqualTo("vol-1");
                    assertThat(volume.getAlluxioPath()).isEqualTo(own.path() + "/attached");
                    assertThat(volume.getTransport()).isEqualTo("devfuse");
                });
        AttachRequest other = request.toBuilder().putOptions("umask", "077").build();
        failsWith(Status.Code.ALREADY_EXISTS, "detach it first", () -> node.control()
                .attach(other));
        DetachRequest detach = DetachRequest.newBuilder().setVolume("vol-1").build();
        node.control().detach(detach);
        node.control().detach(detach);
        node.unmount("vol-1");
        node.control().detach(detach);
    }

    @Test
    void what_is_wrong_with_an_attach_is_told_with_a_fixed_code() throws Exception {
        AttachRequest good = Node.request("vol-2", masters, "/");
        failsWith(Status.Code.NOT_FOUND, "vol-2", () -> node.control().attach(good));
        failsWith(Status.Code.INVALID_ARGUMENT, "volume name", () -> node.control()
                .attach(good.toBuilder().setVolume("a/b").build()));
        failsWith(Status.Code.INVALID_ARGUMENT, "'..'", () -> node.control()
                .attach(good.toBuilder().setAlluxioPath("/a/../b").build()));
        failsWith(Status.Code.INVALID_ARGUMENT, "option 'colour' is not known", () -> node.control()
                .attach(good.toBuilder().putOptions("colour", "red").build()));
        failsWith(Status.Code.INVALID_ARGUMENT, "--spool", () -> node.control()
                .attach(good.toBuilder().putOptions("spool", "/etc").build()));
        failsWith(Status.Code.INVALID_ARGUMENT, "alluxio.home", () -> node.control()
                .attach(good.toBuilder()
                        .setCluster(Cluster.newBuilder().setMasters(masters).putProperties("alluxio.home", "/"))
                        .build()));
        node.mount("vol-2");
        failsWith(Status.Code.NOT_FOUND, "/missing", () -> node.control()
                .attach(good.toBuilder().setAlluxioPath("/missing").build()));
        failsWith(Status.Code.UNAVAILABLE, "127.0.0.1:1", () -> node.control()
                .attach(Node.request("vol-2", "127.0.0.1:1", "/")));
        node.unmount("vol-2");
        failsWith(Status.Code.NOT_FOUND, "not attached", () -> node.control()
                .stats(StatsRequest.newBuilder().setVolume("none").build()));
    }

    @Test
    void a_transport_that_cannot_be_kept_is_refused_with_a_sentence() throws Exception {
        Path mount = node.mount("vol-3");
        AttachRequest request = Node.request("vol-3", masters, "/").toBuilder()
                .putOptions("transport", "libfuse")
                .build();
        failsWith(
                Status.Code.FAILED_PRECONDITION, "libfuse", () -> node.control().attach(request));
        node.control()
                .attach(request.toBuilder().putOptions("transport", "devfuse").build());
        assertThat(mount.toFile().list()).isNotNull();
        node.control().detach(DetachRequest.newBuilder().setVolume("vol-3").build());
        node.unmount("vol-3");
    }

    @Test
    void the_kernels_limits_of_a_persistent_mount_fit() throws Exception {
        assumeTrue(KernelLimits.areShown(), "not root, or no fusectl");
        data("limits");
        Path mount = node.mount("vol-limits");
        node.control().attach(Node.request("vol-limits", masters, own.path() + "/limits"));
        assertThat(mount).isNotEmptyDirectory();
        assertThat(KernelLimits.of(mount)).isEqualTo(new KernelLimits(1024, 128, 96));
        node.control().detach(DetachRequest.newBuilder().setVolume("vol-limits").build());
        node.unmount("vol-limits");
    }

    @Test
    void stats_warmup_and_invalidate_answer_for_a_volume() throws Exception {
        Path data = data("warm");
        Files.createDirectory(data.resolve("sub"));
        Files.writeString(data.resolve("sub").resolve("other"), "x");
        node.mount("vol-4");
        node.control().attach(Node.request("vol-4", masters, own.path() + "/warm"));
        StatsRequest stats = StatsRequest.newBuilder().setVolume("vol-4").build();
        Waiting.until(
                "capacity is known", LIMIT, () -> node.control().stats(stats).getCapacityBytes() > 0);
        assertThat(node.control().stats(stats).getHealthy()).isTrue();
        List<WarmupProgress> progress = new ArrayList<>();
        node.control()
                .warmup(WarmupRequest.newBuilder()
                        .setVolume("vol-4")
                        .setPath("/")
                        .setData(true)
                        .build())
                .forEachRemaining(progress::add);
        WarmupProgress last = progress.get(progress.size() - 1);
        assertThat(last.getTotalBytes()).isEqualTo("text of warm".length() + 1);
        assertThat(last.getDone()).isTrue();
        assertThat(last.getEntries()).isEqualTo(3);
        assertThat(last.getBytes()).isEqualTo("text of warm".length() + 1);
        assertThat(last.getFailed()).isZero();
        InvalidateRequest invalidate =
                InvalidateRequest.newBuilder().setVolume("vol-4").setPath("/").build();
        assertThat(node.control().invalidate(invalidate).getEntries()).isGreaterThanOrEqualTo(3);
        node.control().detach(DetachRequest.newBuilder().setVolume("vol-4").build());
        node.unmount("vol-4");
    }

    @Test
    void folders_are_made_listed_renamed_and_removed_for_the_controller() {
        Cluster cluster = Cluster.newBuilder().setMasters(masters).build();
        DirectoryRequest made = DirectoryRequest.newBuilder()
                .setCluster(cluster)
                .setPath(own.path() + "/volumes/pvc-1")
                .setMode(0777)
                .build();
        assertThat(node.control().makeDirectory(made).getChanged()).isTrue();
        assertThat(node.control().makeDirectory(made).getChanged()).isFalse();
        RenameDirectoryRequest rename = RenameDirectoryRequest.newBuilder()
                .setCluster(cluster)
                .setPath(own.path() + "/volumes/pvc-1")
                .setNewPath(own.path() + "/volumes/archived-pvc-1")
                .build();
        assertThat(node.control().renameDirectory(rename).getChanged()).isTrue();
        assertThat(node.control().renameDirectory(rename).getChanged()).isFalse();
        DirectoryRequest parent =
                made.toBuilder().setPath(own.path() + "/volumes").build();
        assertThat(node.control().listDirectory(parent).getEntriesList())
                .singleElement()
                .satisfies(entry -> {
                    assertThat(entry.getName()).isEqualTo("archived-pvc-1");
                    assertThat(entry.getDirectory()).isTrue();
                });
        failsWith(Status.Code.FAILED_PRECONDITION, "not empty", () -> node.control()
                .removeDirectory(parent));
        DirectoryRequest whole = parent.toBuilder().setRecursive(true).build();
        assertThat(node.control().removeDirectory(whole).getChanged()).isTrue();
        assertThat(node.control().removeDirectory(whole).getChanged()).isFalse();
    }

    @Test
    void pages_tell_health_and_metrics_though_a_reader_hangs() throws Exception {
        data("metered");
        Path mount = node.mount("vol-5");
        node.control()
                .attach(Node.request("vol-5", masters, own.path() + "/metered").toBuilder()
                        .putLabels("pvc", "claim")
                        .putLabels("namespace", "team")
                        .build());
        assertThat(mount.resolve("file")).hasContent("text of metered");
        try (Socket hanging = new Socket(InetAddress.getLoopbackAddress(), node.httpPort())) {
            hanging.getOutputStream().write("GET /metrics HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(node.page("/healthz").body()).isEqualTo("ok\n");
            assertThat(node.page("/readyz").statusCode()).isEqualTo(200);
            String lookups =
                    "posix_gateway_requests_total{namespace=\"team\",op=\"lookup\",pvc=\"claim\",volume=\"vol-5\"}";
            assertThat(pageThatTells(lookups, page -> page.contains(lookups)))
                    .contains(
                            "posix_gateway_request_duration_seconds_bucket{", "posix_gateway_ready 1.0", "jvm_memory");
        }
        node.control().detach(DetachRequest.newBuilder().setVolume("vol-5").build());
        node.unmount("vol-5");
    }

    @Test
    void metrics_tell_of_caches_of_alluxio_and_where_the_time_went() throws Exception {
        data("counted");
        Path mount = node.mount("vol-7");
        node.control().attach(Node.request("vol-7", masters, own.path() + "/counted"));
        assertThat(mount.resolve("file")).hasContent("text of counted");
        assertThat(Files.size(mount.resolve("file"))).isEqualTo("text of counted".length());
        String page = pageThatTells(
                "vol-7", text -> text.contains("vol-7") && value(text, "cache_hits_total", "kind=\"attributes\"") > 0);
        assertThat(value(page, "rpc_duration_seconds_count", "method=\"status\""))
                .isPositive();
        assertThat(value(page, "request_phase_seconds_total", "op=\"lookup\",phase=\"alluxio\""))
                .isPositive()
                .isLessThanOrEqualTo(value(page, "request_duration_seconds_sum", "op=\"lookup\""));
        assertThat(value(page, "cache_misses_total", "kind=\"names\"")).isPositive();
        assertThat(value(page, "cache_entries", "kind=\"nodes\"")).isGreaterThanOrEqualTo(2);
        assertThat(value(page, "cache_bytes", "kind=\"nodes\"")).isGreaterThan(100);
        assertThat(value(page, "rpcs_limit", "")).isPositive();
        assertThat(value(page, "spool_limit_bytes", "")).isPositive();
        assertThat(value(page, "takeover_seconds", "")).isZero();
        node.control().detach(DetachRequest.newBuilder().setVolume("vol-7").build());
        node.unmount("vol-7");
    }

    @Test
    void a_reader_that_asks_for_it_gets_native_histograms_and_others_get_text() throws Exception {
        assertThat(node.page("/metrics", "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
                        .headers()
                        .firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain"));
        HttpResponse<String> page = node.page(
                "/metrics",
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,*/*;q=0.1");
        assertThat(page.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("application/vnd.google.protobuf"));
        assertThat(page.body()).contains("posix_gateway_ready").doesNotContain("# HELP");
    }

    /** The metrics, which are gathered at most once a second: those of a moment ago may tell too little. */
    private String pageThatTells(String what, Predicate<String> enough) throws Exception {
        String[] page = new String[1];
        Waiting.until("the metrics tell of " + what, LIMIT, () -> {
            page[0] = node.page("/metrics").body();
            return enough.test(page[0]);
        });
        return page[0];
    }

    /** Of the series of vol-7 that has these labels. */
    private static double value(String page, String name, String labels) {
        return page.lines()
                .filter(line -> line.startsWith("posix_gateway_" + name + "{")
                        && line.contains("volume=\"vol-7\"")
                        && List.of(labels.split(",", -1)).stream().allMatch(line::contains))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + name + "{" + labels + "} in\n" + page));
    }

    @Test
    void another_user_is_hung_up_on_even_where_the_socket_lets_him_in() throws Exception {
        assumeTrue(Built.isRoot(), "only root can become another user");
        Set<PosixFilePermission> before = Files.getPosixFilePermissions(folder);
        try {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
            Files.setPosixFilePermissions(node.controlSocket(), PosixFilePermissions.fromString("rw-rw-rw-"));
            assertThat(greeting(0)).isEqualTo("answered");
            assertThat(greeting(65534)).isEqualTo("hung up");
        } finally {
            Files.setPosixFilePermissions(node.controlSocket(), PosixFilePermissions.fromString("rw-------"));
            Files.setPosixFilePermissions(folder, before);
        }
    }

    /** What a process of this user hears when it says what a gRPC client says first. */
    private static String greeting(int uid) throws Exception {
        String program = """
                import os, socket, sys
                os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
                peer = socket.socket(socket.AF_UNIX); peer.settimeout(60); peer.connect(sys.argv[1])
                try:
                    peer.send(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n\\0\\0\\0\\4\\0\\0\\0\\0\\0")
                    print("answered" if peer.recv(9) else "hung up")
                except (ConnectionResetError, BrokenPipeError):
                    print("hung up")
                """;
        try (Program python = Program.start(
                folder, List.of("python3", "-c", program, node.controlSocket().toString(), String.valueOf(uid)))) {
            assertThat(python.await(LIMIT)).as(python.output()).isZero();
            return python.output().trim();
        }
    }

    @Test
    void a_hundred_hostile_readers_of_the_pages_do_not_slow_the_mount() throws Exception {
        Path data = data("besieged");
        for (int i = 0; i < 50; i++) {
            Files.write(data.resolve("f" + i), new byte[10_000]);
        }
        Path mount = node.mount("vol-8");
        node.control().attach(Node.request("vol-8", masters, own.path() + "/besieged"));
        List<Socket> hostile = new ArrayList<>();
        try {
            for (int i = 0; i < 100; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), node.httpPort());
                hostile.add(socket);
                String request = i % 2 == 0 ? "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(50) : "GET /metr";
                socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            }
            QuietTime time = QuietTime.sinceNow();
            for (int i = 0; i < 50; i++) {
                assertThat(Files.readAllBytes(mount.resolve("f" + i))).hasSize(10_000);
            }
            assertThat(time.quiet()).isLessThan(Duration.ofMinutes(1));
            assertThat(node.control().info(InfoRequest.getDefaultInstance()).getReady())
                    .isTrue();
        } finally {
            for (Socket socket : hostile) {
                socket.close();
            }
        }
        Waiting.until("the pages answer again", LIMIT, () -> {
            return node.page("/metrics").statusCode() == 200;
        });
        node.control().detach(DetachRequest.newBuilder().setVolume("vol-8").build());
        node.unmount("vol-8");
    }

    @Test
    void a_volume_is_looked_into_over_the_socket() throws Exception {
        data("seen");
        Path mount = node.mount("vol-9");
        node.control().attach(Node.request("vol-9", masters, own.path() + "/seen"));
        Iterator<AccessLines> accesses = node.control()
                .followAccesses(
                        FollowAccessesRequest.newBuilder().setVolume("vol-9").build());
        accesses.next();
        assertThat(mount.resolve("file")).hasContent("text of seen");
        List<String> lines = new ArrayList<>();
        while (lines.stream().noneMatch(line -> line.contains("lookup (1,file): OK"))) {
            lines.addAll(accesses.next().getLinesList());
        }
        PathInfoRequest question =
                PathInfoRequest.newBuilder().setVolume("vol-9").setPath("/file").build();
        PathInfoReply info = node.control().pathInfo(question);
        assertThat(info.getAlluxioPath()).isEqualTo(own.path() + "/seen/file");
        assertThat(info.getLengthBytes()).isEqualTo("text of seen".length());
        assertThat(info.getNode()).isEqualTo(Files.getAttribute(mount.resolve("file"), "unix:ino"));
        failsWith(Status.Code.NOT_FOUND, "'absent'", () -> node.control()
                .pathInfo(question.toBuilder().setPath("/absent").build()));
        failsWith(Status.Code.INVALID_ARGUMENT, "'..'", () -> node.control()
                .pathInfo(question.toBuilder().setPath("/../x").build()));
        assertThat(node.control().metrics(MetricsRequest.getDefaultInstance()).getText())
                .contains("posix_gateway_volume_info{");
        Map<String, String> texts =
                node.control().diagnose(DiagnoseRequest.getDefaultInstance()).getTextsMap();
        assertThat(texts.get("volumes.txt")).contains("volume vol-9", "transport devfuse");
        node.control().detach(DetachRequest.newBuilder().setVolume("vol-9").build());
        node.unmount("vol-9");
    }

    @Test
    void the_control_socket_is_private_and_levels_are_checked() throws Exception {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(node.controlSocket())))
                .isEqualTo("rw-------");
        node.control()
                .setLogLevel(SetLogLevelRequest.newBuilder().setLevel("DEBUG").build());
        node.control()
                .setLogLevel(SetLogLevelRequest.newBuilder().setLevel("INFO").build());
        failsWith(Status.Code.INVALID_ARGUMENT, "LOUD", () -> node.control()
                .setLogLevel(SetLogLevelRequest.newBuilder().setLevel("LOUD").build()));
    }

    @Test
    void after_a_drain_the_next_process_goes_on_with_the_mount() throws Exception {
        data("drained");
        Path mount = node.mount("vol-6");
        node.control().attach(Node.request("vol-6", masters, own.path() + "/drained"));
        assertThat(mount.resolve("file")).hasContent("text of drained");
        long before = node.control().info(InfoRequest.getDefaultInstance()).getPid();
        assertThat(node.control().drain(DrainRequest.getDefaultInstance()).getVolumes())
                .isPositive();
        node.replaceEndedGateway();
        node.awaitReady();
        assertThat(node.control().info(InfoRequest.getDefaultInstance()).getPid())
                .isNotEqualTo(before);
        assertThat(mount.resolve("file")).hasContent("text of drained");
        assertThat(node.control().list(ListRequest.getDefaultInstance()).getVolumesList())
                .anySatisfy(volume -> {
                    assertThat(volume.getVolume()).isEqualTo("vol-6");
                    assertThat(volume.getTakeovers()).isEqualTo(1);
                });
        node.control().detach(DetachRequest.newBuilder().setVolume("vol-6").build());
        node.unmount("vol-6");
    }
}
