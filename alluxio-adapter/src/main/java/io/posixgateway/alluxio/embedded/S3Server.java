package io.posixgateway.alluxio.embedded;

import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A real S3 server, SeaweedFS, with one bucket, on free ports of the loopback interface. Alluxio comes with keys; whoever comes
 * without any, as this class does in place of other clients of the bucket, may do everything, too: it serves nothing but this host.
 *
 * <p>Its program is what {@code make setup-s3} builds, or a {@code weed} of the PATH. It ends with this process, also when that is
 * killed. Methods are for one thread at a time.
 */
public final class S3Server implements UnderStoreServer {
    /** System property that names the program. */
    static final String PROPERTY = "posixgateway.weed";

    private static final String BUCKET = "bucket";
    private static final String ACCESS_KEY = "embedded";
    private static final String SECRET_KEY = "embedded-secret";
    private static final long POLL_MILLIS = 50;
    /** The server takes the place of the shell; what reads the pipe from the parent ends it when that does. */
    private static final String END_WITH_PARENT =
            "exec 3<&0; (cat <&3 >/dev/null; kill -9 $$) & exec 3<&-; exec \"$0\" \"$@\" </dev/null";

    /** A line of its metrics: the type of the requests, and their number. */
    private static final Pattern REQUESTS =
            Pattern.compile("(?m)^SeaweedFS_s3_request_total\\{[^}]*type=\"([A-Z]+)\"[^}]*} (\\d+)$");

    private static final Pattern KEY = Pattern.compile("<Key>([^<]*)</Key>");

    private static final String IDENTITIES = """
        {"identities": [
          {"name": "alluxio", "credentials": [{"accessKey": "%s", "secretKey": "%s"}], "actions": ["Admin"]},
          {"name": "anonymous", "actions": ["Admin"]}
        ]}
        """.formatted(ACCESS_KEY, SECRET_KEY);

    private final ServerProcess process;
    private final int port;
    private final int metricsPort;

    S3Server(Path folder, Path logs, PortRange ports) throws IOException {
        Files.createDirectories(folder);
        Path idMapper = Files.writeString(folder.resolve("identities.json"), IDENTITIES);
        this.port = ports.next();
        this.metricsPort = ports.next();
        List<String> command = List.of(
                "sh",
                "-c",
                END_WITH_PARENT,
                program().toString(),
                "server",
                "-dir=" + folder,
                "-ip=127.0.0.1",
                "-ip.bind=127.0.0.1",
                "-master.port=" + ports.next(),
                "-master.port.grpc=" + ports.next(),
                "-master.volumeSizeLimitMB=1024",
                "-master.volumePreallocate=false",
                "-master.telemetry=false",
                "-volume.port=" + ports.next(),
                "-volume.port.grpc=" + ports.next(),
                "-volume.max=0",
                "-filer",
                "-filer.port=" + ports.next(),
                "-filer.port.grpc=" + ports.next(),
                "-filer.localSocket=" + folder.resolve("filer.sock"),
                "-s3",
                "-s3.port=" + port,
                "-s3.port.grpc=" + ports.next(),
                "-s3.port.iceberg=0",
                "-s3.port.lance=0",
                "-s3.localSocket=" + folder.resolve("s3.sock"),
                "-metricsPort=" + metricsPort,
                "-s3.config=" + idMapper);
        this.process = new ServerProcess(
                "s3", command, logs.resolve("s3.out"), new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    private static Path program() throws IOException {
        String given = System.getProperty(PROPERTY);
        if (given != null) {
            return Path.of(given);
        }
        Path found = found();
        if (found == null) {
            throw new IOException(
                    "SeaweedFS, the S3 server, is not there. Build it with `make setup-s3` (minutes, once),"
                            + " or name a program weed by -D" + PROPERTY + "=FILE.");
        }
        return found;
    }

    /** Can one be started here? */
    public static boolean isBuilt() {
        return System.getProperty(PROPERTY) != null || found() != null;
    }

    private static @Nullable Path found() {
        Stream<Path> onPath = Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, "weed"));
        return Stream.concat(Stream.of(cache().resolve("s3/weed")), onPath)
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    /** Where the build keeps tools, as the Makefile has it. */
    private static Path cache() {
        String own = System.getenv("PGW_CACHE");
        String base = System.getenv("XDG_CACHE_HOME");
        return own != null && !own.isEmpty()
                ? Path.of(own)
                : (base != null && !base.isEmpty() ? Path.of(base) : Path.of(System.getProperty("user.home"), ".cache"))
                        .resolve("posix-gateway");
    }

    /** Makes the bucket once it takes requests. */
    @Override
    public void awaitReady(long deadlineNanos) throws IOException {
        process.awaitPort(deadlineNanos);
        for (int status = make(); status != 200 && status != 409; status = make()) {
            if (!process.isAlive() || Clock.system().nanos() - deadlineNanos > 0) {
                throw new IOException(
                        "The S3 server answers " + status + " when it is to make a bucket; see " + process.log());
            }
            EmbeddedAlluxio.pauseMillis(POLL_MILLIS);
        }
    }

    private int make() throws IOException {
        try {
            return status(request("PUT", ""));
        } catch (java.net.ConnectException notYet) {
            return 0;
        }
    }

    @Override
    public ServerProcess process() {
        return process;
    }

    @Override
    public Map<String, String> alluxioProperties() {
        return Map.of(
                "alluxio.master.mount.table.root.ufs",
                "s3://" + BUCKET + "/",
                "alluxio.underfs.s3.endpoint",
                "http://127.0.0.1:" + port,
                "alluxio.underfs.s3.disable.dns.buckets",
                "true",
                "alluxio.underfs.s3.inherit.acl",
                "false",
                "alluxio.underfs.s3.region",
                "us-east-1",
                "s3a.accessKeyId",
                ACCESS_KEY,
                "s3a.secretKey",
                SECRET_KEY);
    }

    @Override
    public void put(String key, byte[] content) throws IOException {
        HttpURLConnection request = request("PUT", key);
        request.setDoOutput(true);
        request.setFixedLengthStreamingMode(content.length);
        try (OutputStream body = request.getOutputStream()) {
            body.write(content);
        }
        check(request, key);
    }

    /** Puts the object that stands for it. */
    @Override
    public void makeDirectory(String path) throws IOException {
        put(path + "/", new byte[0]);
    }

    @Override
    public byte @Nullable [] get(String key) throws IOException {
        HttpURLConnection request = request("GET", key);
        if (request.getResponseCode() == 404) {
            return null;
        }
        try (InputStream body = request.getInputStream()) {
            return body.readAllBytes();
        }
    }

    /** The keys that begin with this, in order; of many, the first thousand. */
    public List<String> keys(String prefix) throws IOException {
        HttpURLConnection request = request("GET", "", "list-type=2&prefix=" + prefix);
        try (InputStream body = request.getInputStream()) {
            return KEY.matcher(new String(body.readAllBytes(), StandardCharsets.UTF_8))
                    .results()
                    .map(key -> key.group(1))
                    .toList();
        }
    }

    @Override
    public List<String> names(String directory) throws IOException {
        String prefix = directory.isEmpty() ? "" : directory + "/";
        return keys(prefix).stream()
                .map(key -> key.substring(prefix.length()).replaceFirst("/.*", ""))
                .filter(name -> !name.isEmpty())
                .distinct()
                .toList();
    }

    @Override
    public void delete(String key) throws IOException {
        check(request("DELETE", key), key);
    }

    /**
     * How many requests it has served so far, by what they were: PUT, COPY, GET (HEAD, too), LIST, DELETE and so on; those of
     * {@link #put} and the like are among them.
     */
    public Map<String, Long> requests() throws IOException {
        URL metrics = URI.create("http://127.0.0.1:" + metricsPort + "/metrics").toURL();
        Map<String, Long> counts = new TreeMap<>();
        try (InputStream body = metrics.openStream()) {
            REQUESTS.matcher(new String(body.readAllBytes(), StandardCharsets.UTF_8))
                    .results()
                    .forEach(line -> counts.merge(line.group(1), Long.parseLong(line.group(2)), Long::sum));
        }
        return counts;
    }

    private static void check(HttpURLConnection request, String key) throws IOException {
        int status = status(request);
        if (status / 100 != 2) {
            throw new IOException(
                    "The S3 server answers " + status + " to " + request.getRequestMethod() + " of " + key);
        }
    }

    private static int status(HttpURLConnection request) throws IOException {
        int status = request.getResponseCode();
        try (InputStream body = status < 400 ? request.getInputStream() : request.getErrorStream()) {
            if (body != null) {
                body.transferTo(OutputStream.nullOutputStream()); // the connection is used again
            }
        }
        return status;
    }

    private HttpURLConnection request(String method, String key) throws IOException {
        return request(method, key, null);
    }

    private HttpURLConnection request(String method, String key, @Nullable String query) throws IOException {
        try {
            URI uri = new URI("http", null, "127.0.0.1", port, "/" + BUCKET + "/" + key, query, null);
            HttpURLConnection request =
                    (HttpURLConnection) URI.create(uri.toASCIIString()).toURL().openConnection();
            request.setRequestMethod(method);
            return request;
        } catch (URISyntaxException e) {
            throw new IOException("Not a key: " + key, e);
        }
    }
}
