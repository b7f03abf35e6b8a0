package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.client.file.FileSystemContext;
import alluxio.client.file.URIStatus;
import alluxio.grpc.BlockWorkerGrpc;
import alluxio.grpc.OpenLocalBlockRequest;
import alluxio.grpc.OpenLocalBlockResponse;
import alluxio.shaded.client.io.grpc.Server;
import alluxio.shaded.client.io.grpc.netty.NettyServerBuilder;
import alluxio.shaded.client.io.grpc.stub.StreamObserver;
import alluxio.wire.BlockInfo;
import alluxio.wire.BlockLocation;
import alluxio.wire.FileBlockInfo;
import alluxio.wire.FileInfo;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.alluxio.read.BlockFiles;
import io.posixgateway.alluxio.read.FileReader;
import io.posixgateway.alluxio.read.TrustedFolders;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.security.auth.Subject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A worker on this host, over gRPC, of a master whose file has one block there, that says of the block what a stranger would like to have
 * read: another tenant's block of the same number.
 */
class FalseBlockWorkerTest {
    private static final long BLOCK = 7L << 24;
    private static final FileReader.Extent FILE = new FileReader.Extent(BLOCK | 0xff_ffff, 6, 1 << 20, 0);
    private static final String HERE = "127.0.0.1";

    private final Path trusted;
    private final Path others;
    private final Server server;
    private final FileSystemContext context;
    private final WorkerConnections connections;
    private volatile String answer = "";

    private final class Worker extends BlockWorkerGrpc.BlockWorkerImplBase {
        @Override
        public StreamObserver<OpenLocalBlockRequest> openLocalBlock(StreamObserver<OpenLocalBlockResponse> responses) {
            return new StreamObserver<>() {
                @Override
                public void onNext(OpenLocalBlockRequest request) {
                    responses.onNext(
                            OpenLocalBlockResponse.newBuilder().setPath(answer).build());
                }

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onCompleted() {
                    responses.onCompleted();
                }
            };
        }
    }

    FalseBlockWorkerTest(@TempDir Path folder) throws IOException {
        this.trusted = Files.createDirectory(folder.resolve("trusted"));
        this.others = Files.createDirectory(folder.resolve("others"));
        Files.writeString(others.resolve(Long.toString(BLOCK)), "secret");
        this.server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Worker())
                .build()
                .start();
        Map<String, String> properties =
                Map.of("alluxio.security.authentication.type", "NOSASL", "alluxio.user.hostname", HERE);
        StoreOptions options = new StoreOptions(HERE + ":1", "", "THROUGH", true, properties);
        this.context = FileSystemContext.create(new Subject(), ClientProperties.of(options));
        this.connections =
                new WorkerConnections(context, new WorkerList(context, List::of, 0, Clock.system()), Clock.system());
    }

    @AfterEach
    void end() throws IOException {
        connections.close();
        context.close();
        server.shutdownNow();
    }

    /** Does the gateway open the block where the worker says it is? */
    private boolean opens(String path) throws IOException {
        answer = path;
        try (BlockFiles files = new BlockFiles(4, TrustedFolders.of(trusted.toString()), () -> true)) {
            Path folder = LocalBlockLocator.folder(connections, file());
            if (folder != null) {
                files.learn(folder);
            }
            try (BlockFiles.Pin pin = files.pin(FILE)) {
                return pin != null;
            }
        }
    }

    /** The same; no path is an error of the worker's. */
    private boolean opensWhatever(String path) {
        try {
            return opens(path);
        } catch (IOException refused) {
            assertThat(refused).hasMessageContaining("returned no path");
            return false;
        }
    }

    private URIStatus file() {
        WorkerNetAddress worker = new WorkerNetAddress().setHost(HERE).setDataPort(server.getPort());
        BlockLocation location = new BlockLocation().setWorkerAddress(worker);
        BlockInfo block = new BlockInfo().setBlockId(BLOCK).setLength(6).setLocations(List.of(location));
        return new URIStatus(new FileInfo().setFileBlockInfos(List.of(new FileBlockInfo().setBlockInfo(block))));
    }

    private String block(Path folder) {
        return folder.resolve(Long.toString(BLOCK)).toString();
    }

    @Test
    void open_blockInATrustedFolder_isOpened() throws IOException {
        Files.writeString(trusted.resolve(Long.toString(BLOCK)), "honest");
        assertThat(opens(block(trusted))).isTrue();
    }

    @Test
    void open_placesOfOthers_opensNothing() throws IOException {
        Path link = Files.createSymbolicLink(trusted.resolve("link"), others);
        Path within = Files.createDirectory(trusted.resolve("within"));
        Files.createSymbolicLink(within.resolve(Long.toString(BLOCK)), others.resolve(Long.toString(BLOCK)));
        for (String path : List.of(
                block(others),
                trusted + "/../others/" + BLOCK,
                trusted + "/link/../../others/" + BLOCK,
                block(link),
                block(within),
                "/proc/self/root" + block(others),
                "/proc/self/cwd/" + BLOCK,
                "/proc/self/fd/0",
                "/proc/" + ProcessHandle.current().pid() + "/root" + block(others),
                "others/" + BLOCK,
                "../others/" + BLOCK,
                "/",
                "",
                "\u0000" + block(others),
                block(trusted) + "\u0000" + block(others))) {
            assertThat(opensWhatever(path)).as("a worker says %s", path).isFalse();
        }
    }

    @Test
    void open_otherThanAFile_opensNothing() throws Exception {
        Path place = trusted.resolve(Long.toString(BLOCK));
        Files.createDirectory(place);
        assertThat(opens(block(trusted))).as("a folder").isFalse();
        Files.delete(place);
        new ProcessBuilder("mkfifo", place.toString()).start().waitFor();
        assertThat(opens(block(trusted)))
                .as("a pipe, which would be waited for")
                .isFalse();
    }
}
