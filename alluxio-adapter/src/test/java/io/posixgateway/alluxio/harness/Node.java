package io.posixgateway.alluxio.harness;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.control.proto.Cluster;
import io.posixgateway.alluxio.control.proto.ControlGrpc;
import io.posixgateway.alluxio.control.proto.InfoRequest;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What runs on a node: a real keeper, and a real {@code posix-gateway serve} that can be killed and started again. Everything
 * it made is gone after {@link #close}, and its mounts are when this JVM ends.
 */
public final class Node implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String LEADING = "Leading: taking over";
    /** Of all nodes; those that end when this JVM does would be served by nobody. */
    private static final Set<Path> MOUNTED = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> MOUNTED.forEach(Node::discard)));
    }

    private final Path folder;
    private final String javaOptions;
    private final List<String> blockFolders;
    private Path tree;
    private Path spool;
    private Program keeper;
    private Program nextKeeper;
    private final List<Path> mounts = new ArrayList<>();
    private final List<Program> gateways = new ArrayList<>();
    private final List<Long> leaving = new ArrayList<>();
    private final List<Long> adopting = new ArrayList<>();
    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final ManagedChannel channel;
    private final FreePort http;
    private Program gateway;
    private Program next;
    private @Nullable Program waiting;

    /** Starts the keeper and the gateway; their sockets and output go into the folder, whose path must be short. */
    public Node(Path folder) throws Exception {
        this(folder, "");
    }

    /** The same, with options for the JVMs of its gateways. */
    public Node(Path folder, String javaOptions) throws Exception {
        this(folder, javaOptions, Built.root(), List.of("--block-folders", "*=/tmp:/dev/shm"));
    }

    /** The same with keeper and gateway of another built tree, of an earlier version for instance, until {@link #use}. */
    public static Node ofTree(Path folder, Path tree) throws Exception {
        // Earlier versions open block files unasked, and refuse the option.
        return new Node(folder, "", tree, List.of());
    }

    private Node(Path folder, String javaOptions, Path tree, List<String> blockFolders) throws Exception {
        this.folder = folder;
        this.javaOptions = javaOptions;
        this.blockFolders = blockFolders;
        this.tree = tree;
        this.spool = folder.resolve("spool");
        this.http = FreePort.take();
        this.nextKeeper = keeperToBe();
        this.keeper = startKeeper();
        this.channel = NettyChannelBuilder.forAddress(
                        new DomainSocketAddress(controlSocket().toString()))
                .eventLoopGroup(loop)
                .channelType(EpollDomainSocketChannel.class)
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .usePlaintext()
                .build();
        Waiting.until("the keeper listens", LIMIT, () -> Files.exists(keeperSocket()));
        this.next = nextGateway();
        this.gateway = startGateway();
    }

    /** The keepers and gateways that are started from here on are those of this built tree. */
    public void use(Path tree) {
        this.tree = tree;
    }

    /** The gateway that is started next, and those after it, have this spool. */
    public void spoolAt(Path other) throws IOException {
        spool = other;
        next.close();
        next = nextGateway();
    }

    private Path keeperSocket() {
        return folder.resolve("keeper.sock");
    }

    public Path controlSocket() {
        return folder.resolve("control.sock");
    }

    /** The one that waits begins, and another one waits. */
    private Program startGateway() throws IOException {
        Program started = next;
        gateways.add(started);
        started.begin(Built.gateway(tree));
        next = nextGateway();
        return started;
    }

    private Program nextGateway() throws IOException {
        return Program.toBe(folder, javaOptions, serve());
    }

    /** The one that waits begins; it takes the sessions of the one that is there, if there is one. Another one waits. */
    private Program startKeeper() throws IOException {
        Program started = nextKeeper;
        started.begin(Built.keeper(tree));
        nextKeeper = keeperToBe();
        return started;
    }

    private Program keeperToBe() throws IOException {
        String socket = keeperSocket().toString();
        return Program.toBe(folder, "", List.of("--socket", socket, "--takeover", socket));
    }

    private List<String> serve() {
        List<String> arguments = new ArrayList<>(List.of(
                "serve",
                "--socket",
                controlSocket().toString(),
                "--keeper",
                keeperSocket().toString(),
                "--http",
                "127.0.0.1:" + http.number(),
                "--spool",
                spool.toString()));
        arguments.addAll(blockFolders);
        return arguments;
    }

    /** Starts another gateway, as it stands behind the first one in a container; it says more than others. The caller ends it. */
    public Program startStandby() throws IOException {
        List<String> arguments = serve();
        arguments.addAll(List.of("--standby", "--log-level", "DEBUG"));
        return Program.gateway(folder, arguments.toArray(new String[0]));
    }

    /** kill -9 of the gateway, and a new one at once. */
    public void killAndRestartGateway() throws Exception {
        gateway.kill();
        gateway = startGateway();
    }

    /** kill -9 of the gateway, and of the next one so long after it began to take over; then a third one. */
    public void killGatewayAndItsSuccessor(Duration after) throws Exception {
        Program third = nextGateway(); // while somebody serves
        gateway.kill();
        Program successor = next;
        gateways.add(successor);
        successor.begin(Built.gateway(tree));
        successor.awaitOutput(LEADING, LIMIT);
        pause(after);
        successor.kill();
        next = third;
        gateway = startGateway();
    }

    /** kill -9 of the keeper, and a new one at once, which knows of no session until the gateway gives it those it serves. */
    public void killAndRestartKeeper() throws Exception {
        keeper.kill();
        keeper = startKeeper();
    }

    /** kill -9 of the keeper; nobody keeps anything until {@link #startNextKeeper}. */
    public void killKeeper() throws InterruptedException {
        keeper.kill();
    }

    /** Starts the next one, which was there but asleep. */
    public void startNextKeeper() throws IOException {
        keeper = startKeeper();
    }

    /** kill -9 of the keeper, and so long after it of the gateway, while another gateway waits. */
    public void killKeeperThenGateway(Duration apart) throws Exception {
        killAndRestartKeeper();
        pause(apart);
        killGatewayBeforeTheWaiting();
    }

    /** The other way round. */
    public void killGatewayThenKeeper(Duration apart) throws Exception {
        killGatewayBeforeTheWaiting();
        pause(apart);
        killAndRestartKeeper();
    }

    private static void pause(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Until the keeper holds so many sessions that are mounted. */
    public void awaitKept(int sessions) throws Exception {
        Instant began = Instant.now();
        Waiting.until("the keeper holds the sessions", LIMIT, () -> kept() == sessions);
        adopting.add(Duration.between(began, Instant.now()).toMillis());
    }

    private long kept() {
        JsonObject question = new JsonObject();
        question.addProperty("op", "list");
        try {
            return ask(question).getAsJsonArray("list").asList().stream()
                    .filter(session -> session.getAsJsonObject().get("mounted").getAsBoolean())
                    .count();
        } catch (IOException notYet) {
            return 0;
        }
    }

    /** Of each {@link #awaitKept}: how long it took. */
    public List<Long> adoptingMillis() {
        return List.copyOf(adopting);
    }

    /** Starts another gateway, which gets ready and waits for the end of the one that serves. */
    public void startWaitingGateway() throws Exception {
        waiting = startGateway();
        waiting.awaitOutput("Ready; waiting", LIMIT);
    }

    /** The one that waits; null: none. */
    public @Nullable Program waitingGateway() {
        return waiting;
    }

    /** kill -9 of the gateway while another one waits. */
    public void killGatewayBeforeTheWaiting() throws Exception {
        gateway.kill();
        gateway = theWaiting();
    }

    /** A planned upgrade: the gateway is told to end while its successor waits. */
    public void upgradeGateway() throws Exception {
        Program old = gateway;
        Instant told = Instant.now();
        old.terminate();
        gateway = theWaiting();
        gateway.awaitOutput(LEADING, LIMIT);
        String line = gateway.output()
                .lines()
                .filter(text -> text.contains(LEADING))
                .findFirst()
                .orElseThrow();
        leaving.add(Duration.between(told, Instant.parse(line.substring(0, line.indexOf(' '))))
                .toMillis());
        if (old.await(LIMIT) != 143) {
            throw new AssertionError("the gateway that was told to end said:\n" + old.output());
        }
    }

    private Program theWaiting() {
        Program successor = Objects.requireNonNull(waiting, "startWaitingGateway comes first");
        waiting = null;
        return successor;
    }

    /** A new keeper takes the sessions of the old one, which ends. */
    public void replaceKeeper() throws Exception {
        Program old = keeper;
        keeper = startKeeper();
        if (old.await(LIMIT) != 0) {
            throw new AssertionError("the old keeper said:\n" + old.output());
        }
    }

    /** Of each planned upgrade: from the signal until the next one leads. */
    public List<Long> leavingMillis() {
        return List.copyOf(leaving);
    }

    /** The numbers that gateways of this node put into lines of this kind, in the order of the gateways. */
    public List<Long> said(Pattern line) throws IOException {
        List<Long> numbers = new ArrayList<>();
        for (Program one : gateways) {
            line.matcher(one.output())
                    .results()
                    .forEach(found -> numbers.add(Long.valueOf(Objects.requireNonNull(found.group(1)))));
        }
        return numbers;
    }

    /** Ends the gateway; nobody serves until {@link #startNextGateway}. */
    public void stopGateway() throws Exception {
        gateway.terminate();
        gateway.await(LIMIT);
    }

    /** Starts the next one, which was there but asleep. Nothing else is started before {@link #prepareNextGateway}. */
    public void startNextGateway() throws IOException {
        next.begin(Built.gateway(tree));
        gateways.add(next);
        gateway = next;
    }

    /** While somebody serves. */
    public void prepareNextGateway() throws IOException {
        next = nextGateway();
    }

    /** Waits for the end of a gateway that was asked to end, and starts another. */
    public void replaceEndedGateway() throws Exception {
        gateway.await(LIMIT);
        gateway = startGateway();
    }

    public Program gateway() {
        return gateway;
    }

    /** The control API; calls wait for a gateway, and fail after a while. */
    public ControlGrpc.ControlBlockingStub control() {
        return ControlGrpc.newBlockingStub(channel)
                .withWaitForReady()
                .withDeadlineAfter(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    /** Waits until the gateway serves everything the keeper holds. */
    public void awaitReady() throws Exception {
        Waiting.until("the gateway is ready", LIMIT, () -> {
            channel.resetConnectBackoff();
            try {
                return ControlGrpc.newBlockingStub(channel)
                        .withDeadlineAfter(2, TimeUnit.SECONDS)
                        .info(InfoRequest.getDefaultInstance())
                        .getReady();
            } catch (io.grpc.StatusRuntimeException e) {
                return false;
            }
        });
    }

    /** Lets the keeper mount a session. */
    public Path mount(String volume) throws IOException {
        Path target = Files.createDirectories(folder.resolve("mnt-" + volume));
        mounts.add(target);
        MOUNTED.add(target);
        JsonObject question = new JsonObject();
        question.addProperty("op", "mount");
        question.addProperty("id", volume);
        question.addProperty("target", target.toString());
        question.addProperty("allow_other", true);
        question.addProperty("default_permissions", true);
        ask(question);
        return target;
    }

    /** Lets the keeper unmount it. */
    public void unmount(String volume) throws IOException {
        JsonObject question = new JsonObject();
        question.addProperty("op", "unmount");
        question.addProperty("id", volume);
        ask(question);
    }

    private JsonObject ask(JsonObject question) throws IOException {
        try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.connect(UnixDomainSocketAddress.of(keeperSocket()));
            socket.write(ByteBuffer.wrap((question + "\n").getBytes(StandardCharsets.UTF_8)));
            ByteBuffer answer = ByteBuffer.allocate(64 << 10);
            while (socket.read(answer) >= 0 && answer.get(answer.position() - 1) != '\n') {
                // The line is not complete.
            }
            String line = new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
            JsonObject said = JsonParser.parseString(line).getAsJsonObject();
            if (!said.get("ok").getAsBoolean()) {
                throw new IOException("the keeper refuses " + question + ": " + line);
            }
            return said;
        }
    }

    /** An attach request for a path of this Alluxio. */
    public static AttachRequest request(String volume, String masters, String path) {
        return AttachRequest.newBuilder()
                .setVolume(volume)
                .setCluster(Cluster.newBuilder().setMasters(masters))
                .setAlluxioPath(path)
                .build();
    }

    /** An attach request for a test's own directory. */
    public static AttachRequest request(String volume, TestDirectory directory) {
        return request(volume, directory.masters(), directory.path());
    }

    /** GET of a page of the gateway. */
    public HttpResponse<String> page(String path) throws IOException, InterruptedException {
        return page(path, "*/*");
    }

    /** The same by a reader that accepts these types. */
    public HttpResponse<String> page(String path, String accept) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + http.number() + path))
                .header("Accept", accept)
                .timeout(LIMIT)
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    public int httpPort() {
        return http.number();
    }

    @Override
    public void close() throws IOException {
        channel.shutdownNow();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(5, TimeUnit.SECONDS);
        for (Path mount : mounts) {
            Mounts.discard(mount);
        }
        next.close();
        if (waiting != null) {
            waiting.close();
        }
        gateway.close();
        for (Program one : gateways) {
            one.output()
                    .lines()
                    .filter(line -> line.contains(" WARN ") || line.contains(" ERROR "))
                    .forEach(line -> System.out.println("gateway " + one.pid() + " said: " + line));
        }
        keeper.close();
        nextKeeper.close();
        http.close();
        for (Path mount : mounts) {
            Mounts.discard(mount);
            MOUNTED.remove(mount);
        }
    }

    private static void discard(Path mount) {
        try {
            Mounts.discard(mount);
        } catch (IOException e) {
            System.err.println("mount " + mount + " stays: " + e);
        }
    }
}
