package io.posixgateway.alluxio.embedded;

import io.posixgateway.alluxio.embedded.EmbeddedOptions.UnderStore;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A running Alluxio: masters, workers and, once they are asked for, job servers as child JVMs on free ports of the loopback interface,
 * with a local folder, a bucket of an {@link S3Server}, or an {@link HdfsServer}, as UFS.
 *
 * <p>The children end with this process, also when it is killed: each watches a pipe from here. {@link #close} ends them
 * and removes a temporary folder. Methods are for one thread at a time, but for {@link #close}.
 */
public final class EmbeddedAlluxio implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofMinutes(3);
    private static final String JOURNAL = "alluxio.master.journal.folder";
    private static final List<String> OPENS = List.of(
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-opens=java.base/java.util=ALL-UNNAMED");

    private final Path folder;
    private final Path blockStore;
    private final boolean temporary;
    private final String classPath;
    private final Map<String, String> properties;
    private final List<String> jvmOptions;
    private final @Nullable UnderStoreServer store;
    private final List<ServerProcess> masters = new ArrayList<>();
    private final List<ServerProcess> workers = new ArrayList<>();
    private final List<ServerProcess> jobServers = new ArrayList<>();
    private final PortRange ports;
    // Guarded by this.
    private boolean closed;

    private EmbeddedAlluxio(EmbeddedOptions options, Path folder) throws IOException {
        this.folder = folder;
        this.temporary = options.folder() == null;
        Path blocks = options.blockStore();
        this.blockStore = blocks == null ? folder.resolve("blocks") : blocks;
        this.classPath = classPath(options.underStore());
        for (String name : List.of("ufs", "journal", "logs", "conf")) {
            Files.createDirectories(folder.resolve(name));
        }
        this.ports = PortRange.take();
        int[] masterPorts = ports.next(options.masters());
        this.jvmOptions = options.jvmOptions();
        this.store = storeServer(options.underStore());
        this.properties = commonProperties(masterPorts[0]);
        if (store != null) {
            this.properties.putAll(store.alluxioProperties());
        }
        this.properties.putAll(options.properties());
        if (masterPorts.length == 1) {
            masters.add(server("master", masterPorts[0], properties));
        } else {
            addMasters(masterPorts);
        }
        for (int i = 1; i <= options.workers(); i++) {
            workers.add(worker(i, options));
        }
    }

    private static String classPath(UnderStore kind) throws IOException {
        String servers = ServerJars.ownClasses() + ":" + ServerJars.folder().toAbsolutePath() + "/*";
        return kind == UnderStore.HDFS ? servers + ":" + HdfsServer.clientJars() : servers;
    }

    private @Nullable UnderStoreServer storeServer(UnderStore kind) throws IOException {
        return switch (kind) {
            case LOCAL -> null;
            case S3 -> new S3Server(folder.resolve("s3"), logs(), ports);
            case HDFS -> new HdfsServer(folder.resolve("hdfs"), logs(), ports);
        };
    }

    /** Starts all of it and returns when files can be read and written. */
    public static EmbeddedAlluxio start(EmbeddedOptions options) throws IOException {
        EmbeddedAlluxio alluxio = prepare(options);
        try {
            alluxio.startServers();
            return alluxio;
        } catch (IOException | RuntimeException e) {
            alluxio.close();
            throw e;
        }
    }

    /** Makes its folder, and starts nothing yet: for those who may have to {@link #close} it on another thread before it runs. */
    public static EmbeddedAlluxio prepare(EmbeddedOptions options) throws IOException {
        Path given = options.folder();
        Path folder = given == null ? Files.createTempDirectory("embedded-alluxio-") : Files.createDirectories(given);
        return new EmbeddedAlluxio(options, folder.toAbsolutePath());
    }

    /** Starts all of it and returns when files can be read and written; fails when it is closed meanwhile. Once. */
    public void startServers() throws IOException {
        if (store != null) {
            start(store.process());
            store.awaitReady(deadlineNanos());
        }
        for (ServerProcess server : servers()) {
            start(server);
        }
        awaitReady();
    }

    private synchronized void start(ServerProcess server) throws IOException {
        if (closed) {
            throw new IOException("It is closed");
        }
        server.start();
    }

    private static long deadlineNanos() {
        return Clock.system().nanos() + START_LIMIT.toNanos();
    }

    /** Waits until a master serves and the workers started since are registered with it, at most three minutes. */
    public void awaitReady() throws IOException {
        long deadline = deadlineNanos();
        for (ServerProcess server : servers()) {
            server.awaitPort(deadline);
        }
        while (masters.size() > 1 && leader() == null) {
            if (Clock.system().nanos() - deadline > 0) {
                throw new IOException("No master leads; see " + logs());
            }
            pauseMillis(ServerProcess.POLL_MILLIS);
        }
    }

    /**
     * Starts a job master and a job worker of a cluster with one master, unless they run: they bring what is written with ASYNC_THROUGH to
     * the UFS.
     */
    public void startJobServers() throws IOException {
        if (jobServers.isEmpty()) {
            addJobServers();
            for (ServerProcess server : jobServers) {
                server.start();
            }
        }
        awaitReady();
    }

    private List<ServerProcess> servers() {
        List<ServerProcess> all = new ArrayList<>();
        all.addAll(masters);
        all.addAll(workers);
        all.addAll(jobServers);
        return all;
    }

    /** "127.0.0.1:port", of several masters "127.0.0.1:port,127.0.0.1:port". */
    public String masters() {
        return masters.stream().map(ServerProcess::hostAndPort).collect(Collectors.joining(","));
    }

    /** The folder that Alluxio's root shows; on another under file system an empty one of the caller's. */
    public Path ufs() {
        return folder.resolve("ufs");
    }

    /** Whether Alluxio's root shows the folder {@link #ufs}. */
    public boolean isOnFolder() {
        return store == null;
    }

    /** Another client of what Alluxio's root shows. */
    public UnderStoreClient underStore() {
        return store == null ? new FolderClient(ufs()) : store;
    }

    /** The server that Alluxio's root stands on; null: it is a folder. */
    public @Nullable ServerProcess underStoreProcess() {
        return store == null ? null : store.process();
    }

    /** The server whose bucket Alluxio's root shows; null: it shows something else. */
    public @Nullable S3Server s3() {
        return store instanceof S3Server s3 ? s3 : null;
    }

    /** The HDFS that Alluxio's root shows; null: it shows something else. */
    public @Nullable HdfsServer hdfs() {
        return store instanceof HdfsServer hdfs ? hdfs : null;
    }

    /** What was written by the servers. */
    public Path logs() {
        return folder.resolve("logs");
    }

    /** The only master, or the first. */
    public ServerProcess master() {
        return masters.get(0);
    }

    /** The masters, by number. */
    public List<ServerProcess> masterProcesses() {
        return List.copyOf(masters);
    }

    /** The master that leads; null: none does at the moment. Takes seconds where one is stopped. */
    public @Nullable ServerProcess leader() {
        for (ServerProcess master : masters) {
            if (master.isAlive() && master.servesGrpc()) {
                return master;
            }
        }
        return null;
    }

    /** The workers, by number. */
    public List<ServerProcess> workers() {
        return List.copyOf(workers);
    }

    /**
     * What a command of Alluxio's own shell did.
     *
     * @param exit its exit code
     * @param output its standard output
     * @param errors its standard error
     */
    public record ShellResult(int exit, String output, String errors) {}

    /** Runs a command of {@code alluxio fs}, such as {@code cat /a}. Takes seconds. */
    public ShellResult shell(String... arguments) throws IOException {
        List<String> command = java(192, properties);
        command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=error");
        command.add("alluxio.cli.fs.FileSystemShell");
        command.addAll(List.of(arguments));
        Path output = Files.createTempFile(folder.resolve("logs"), "shell-", ".out");
        Path errors = Files.createTempFile(folder.resolve("logs"), "shell-", ".err");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectOutput(output.toFile())
                    .redirectError(errors.toFile())
                    .start();
            process.getOutputStream().close();
            awaitShell(process, arguments);
            return new ShellResult(process.exitValue(), Files.readString(output), Files.readString(errors));
        } finally {
            Files.deleteIfExists(output);
            Files.deleteIfExists(errors);
        }
    }

    private static void awaitShell(Process process, String... arguments) throws IOException {
        try {
            if (!process.waitFor(2, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                throw new IOException("Alluxio's shell did not end: " + String.join(" ", arguments));
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while Alluxio's shell ran", e);
        }
    }

    /** Ends the servers at once, removes the blocks, and the folder if it is a temporary one. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        for (ServerProcess server : servers()) {
            server.kill();
        }
        if (store != null) {
            store.process().kill();
        }
        ports.close();
        for (Path path : temporary ? List.of(blockStore, folder) : List.<Path>of()) {
            if (Files.exists(path)) {
                ServerLauncher.removeTree(path);
            }
        }
    }

    /** Several, with an embedded journal, of which each has a copy. */
    private void addMasters(int[] rpcPorts) throws IOException {
        int[] journalPorts = ports.next(rpcPorts.length);
        properties.put("alluxio.master.rpc.addresses", addresses(rpcPorts));
        properties.put("alluxio.master.journal.type", "EMBEDDED");
        properties.put("alluxio.master.embedded.journal.addresses", addresses(journalPorts));
        for (int i = 0; i < rpcPorts.length; i++) {
            Map<String, String> own = new LinkedHashMap<>(properties);
            Path journal = Files.createDirectories(folder.resolve("journal" + (i + 1)));
            own.put(JOURNAL, journal.toString());
            own.put("alluxio.master.rpc.port", Integer.toString(rpcPorts[i]));
            own.put("alluxio.master.web.port", Integer.toString(ports.next()));
            own.put("alluxio.master.embedded.journal.port", Integer.toString(journalPorts[i]));
            masters.add(server("master" + (i + 1), rpcPorts[i], own));
        }
    }

    private static String addresses(int[] ports) {
        return IntStream.of(ports).mapToObj(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
    }

    private ServerProcess worker(int number, EmbeddedOptions options) throws IOException {
        long bytes = options.workerBytes();
        String host = "127.0.0." + number;
        int port = ports.next();
        int webPort = ports.next();
        Map<String, String> own = new LinkedHashMap<>(properties);
        own.put("alluxio.worker.hostname", host);
        own.put("alluxio.worker.bind.host", host);
        own.put("alluxio.worker.rpc.port", Integer.toString(port));
        own.put("alluxio.worker.web.bind.host", host);
        own.put("alluxio.worker.web.port", Integer.toString(webPort));
        own.put("alluxio.worker.ramdisk.size", Long.toString(bytes));
        own.put("alluxio.worker.tieredstore.levels", "1");
        addStorageFolders(blockStore.resolve("worker" + number), options, own);
        own.putAll(options.properties());
        return server("worker" + number, webPort, own);
    }

    private static void addStorageFolders(Path store, EmbeddedOptions options, Map<String, String> own)
            throws IOException {
        int count = options.storageFolders();
        List<String> folders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Path folder = count == 1 ? store : store.resolve("disk" + i);
            folders.add(Files.createDirectories(folder).toString());
        }
        String quota = Long.toString(options.workerBytes() / count);
        own.put("alluxio.worker.tieredstore.level0.dirs.path", String.join(",", folders));
        own.put("alluxio.worker.tieredstore.level0.dirs.quota", String.join(",", Collections.nCopies(count, quota)));
    }

    private void addJobServers() throws IOException {
        Map<String, String> own = new LinkedHashMap<>(properties);
        own.put("alluxio.job.master.hostname", "127.0.0.1");
        own.put("alluxio.job.worker.hostname", "127.0.0.1");
        for (String server : List.of("alluxio.job.master", "alluxio.job.worker")) {
            own.put(server + ".bind.host", "127.0.0.1");
            own.put(server + ".web.bind.host", "127.0.0.1");
        }
        int masterPort = ports.next();
        int workerPort = ports.next();
        own.put("alluxio.job.master.web.port", Integer.toString(masterPort));
        own.put("alluxio.job.worker.web.port", Integer.toString(workerPort));
        own.put("alluxio.job.worker.rpc.port", Integer.toString(ports.next()));
        own.put("alluxio.job.worker.data.port", Integer.toString(ports.next()));
        jobServers.add(server("job-master", masterPort, own));
        jobServers.add(server("job-worker", workerPort, own));
    }

    private ServerProcess server(String name, int port, Map<String, String> own) throws IOException {
        Map<String, String> all = new LinkedHashMap<>(own);
        all.put("alluxio.logs.dir", folder.resolve("logs").toString());
        List<String> command = java(own.containsValue("EMBEDDED") ? 400 : 256, all);
        command.addAll(jvmOptions);
        command.add(ServerLauncher.class.getName());
        String host =
                name.startsWith("worker") ? own.getOrDefault("alluxio.worker.bind.host", "127.0.0.1") : "127.0.0.1";
        Path log = folder.resolve("logs").resolve(name + ".out");
        boolean isMaster = name.startsWith("master");
        command.add(name.replaceAll("[0-9]+$", ""));
        command.add(isMaster ? own.getOrDefault(JOURNAL, ServerLauncher.NONE) : ServerLauncher.NONE);
        command.add(temporary && isMaster ? folder.toString() : ServerLauncher.NONE);
        return new ServerProcess(name, command, log, new InetSocketAddress(host, port));
    }

    private Map<String, String> commonProperties(int masterPort) throws IOException {
        Map<String, String> common = new LinkedHashMap<>();
        common.put("org.slf4j.simpleLogger.showDateTime", "true");
        common.put("org.slf4j.simpleLogger.dateTimeFormat", "HH:mm:ss.SSS");
        common.put("alluxio.home", folder.toString());
        common.put("alluxio.site.conf.dir", folder.resolve("conf").toString());
        common.put("alluxio.master.hostname", "127.0.0.1");
        common.put("alluxio.master.bind.host", "127.0.0.1");
        common.put("alluxio.master.rpc.port", Integer.toString(masterPort));
        common.put("alluxio.master.web.bind.host", "127.0.0.1");
        common.put("alluxio.master.web.port", Integer.toString(ports.next()));
        common.put("alluxio.job.master.rpc.port", Integer.toString(ports.next()));
        common.put("alluxio.master.journal.type", "UFS");
        common.put(JOURNAL, folder.resolve("journal").toString());
        // Alluxio's AsyncJournalWriter lets one caller take the permit of another, which then waits for this
        // long: 100 ms by default.
        common.put("alluxio.master.journal.flush.batch.time", "5ms");
        common.put("alluxio.master.metastore", "HEAP");
        common.put("alluxio.master.journal.tailer.shutdown.quiet.wait.time", "50ms");
        common.put("alluxio.master.journal.tailer.sleep.time", "50ms");
        common.put("alluxio.user.rpc.retry.max.sleep", "200ms");
        common.put("alluxio.master.worker.connect.wait.time", "100ms");
        common.put("alluxio.master.mount.table.root.ufs", folder.resolve("ufs").toString());
        common.put("alluxio.master.worker.timeout", "20sec");
        common.put("alluxio.worker.block.heartbeat.interval", "500ms");
        common.put("alluxio.security.authorization.permission.umask", "000");
        common.put("alluxio.user.hostname", "127.0.0.1");
        common.put("alluxio.user.block.size.bytes.default", "16MB");
        return common;
    }

    private List<String> java(int heapMegabytes, Map<String, String> own) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OPENS);
        command.addAll(
                List.of("-Xmx" + heapMegabytes + "m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"));
        own.forEach((key, value) -> command.add("-D" + key + "=" + value));
        command.add("-cp");
        command.add(classPath);
        return command;
    }

    static void pauseMillis(long millis) throws IOException {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted", e);
        }
    }
}
