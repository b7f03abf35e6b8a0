package io.posixgateway.alluxio.embedded;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.posixgateway.fuse.time.Clock;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A real HDFS, name node and one data node in a child JVM, on loopback. All of its state lies below its folder. Its jars are what
 * {@code make setup-hdfs} fetches. It ends with this process, also when that is killed.
 *
 * <p>As another client of it, this class goes by WebHDFS, as the superuser that the servers of Alluxio are, too. Methods are for one
 * thread at a time.
 */
public final class HdfsServer implements UnderStoreServer {
    private static final long POLL_MILLIS = 50;
    private static final String SUPERUSER = System.getProperty("user.name");
    /** Alluxio's properties name a file, which has the properties of HDFS. One data node has one replica. */
    private static final String SITE = """
        <configuration>
          <property><name>dfs.replication</name><value>1</value></property>
          <property><name>hadoop.tmp.dir</name><value>%s</value></property>
        </configuration>
        """;

    private final ServerProcess process;
    private final Path site;
    private final int port;
    private final int webPort;

    HdfsServer(Path folder, Path logs, PortRange ports) throws IOException {
        Files.createDirectories(folder);
        this.port = ports.next();
        this.webPort = ports.next();
        this.site = Files.writeString(folder.resolve("hdfs-site.xml"), SITE.formatted(folder.resolve("tmp")));
        Path jars = ServerJars.ofHdfs().toAbsolutePath();
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true"));
        command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        command.addAll(List.of("-cp", ServerJars.ownClasses() + ":" + jars + "/client/*:" + jars + "/server/*"));
        command.add(ServerLauncher.class.getName());
        command.addAll(List.of(HdfsLauncher.ROLE, ServerLauncher.NONE, ServerLauncher.NONE));
        command.addAll(List.of(folder.toString(), Integer.toString(port), Integer.toString(webPort)));
        this.process = new ServerProcess(
                HdfsLauncher.ROLE,
                command,
                logs.resolve("hdfs.out"),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /** Can one be started here? */
    public static boolean isFetched() {
        return ServerJars.hasHdfs();
    }

    /** What Alluxio's servers need on their class path besides their own jars. */
    static String clientJars() throws IOException {
        return ServerJars.ofHdfs().toAbsolutePath() + "/client/*";
    }

    @Override
    public ServerProcess process() {
        return process;
    }

    @Override
    public Map<String, String> alluxioProperties() {
        return Map.of(
                "alluxio.master.mount.table.root.ufs",
                "hdfs://127.0.0.1:" + port + "/",
                "alluxio.underfs.hdfs.configuration",
                site.toString());
    }

    /** A file can be written: there is a data node, and the name node has left its safe mode. */
    @Override
    public void awaitReady(long deadlineNanos) throws IOException {
        process.awaitPort(deadlineNanos);
        while (true) {
            try {
                put(".ready", new byte[] {1});
                delete(".ready");
                return;
            } catch (IOException e) {
                if (!process.isAlive() || Clock.system().nanos() - deadlineNanos > 0) {
                    throw new IOException("HDFS is not ready in time; see " + process.log(), e);
                }
            }
            EmbeddedAlluxio.pauseMillis(POLL_MILLIS);
        }
    }

    @Override
    public void put(String path, byte[] content) throws IOException {
        URI place = redirected("PUT", path, "op=CREATE&overwrite=true");
        HttpURLConnection request = (HttpURLConnection) place.toURL().openConnection();
        request.setRequestMethod("PUT");
        request.setDoOutput(true);
        request.setFixedLengthStreamingMode(content.length);
        try (OutputStream body = request.getOutputStream()) {
            body.write(content);
        }
        response(request, path);
    }

    @Override
    public byte @Nullable [] get(String path) throws IOException {
        try {
            URI place = redirected("GET", path, "op=OPEN");
            try (InputStream body = place.toURL().openStream()) {
                return body.readAllBytes();
            }
        } catch (FileNotFoundException e) {
            return null;
        }
    }

    @Override
    public void makeDirectory(String path) throws IOException {
        send("PUT", path, "op=MKDIRS");
    }

    @Override
    public void delete(String path) throws IOException {
        JsonObject said = send("DELETE", path, "op=DELETE");
        if (!said.get("boolean").getAsBoolean()) {
            throw new FileNotFoundException(path);
        }
    }

    @Override
    public List<String> names(String directory) throws IOException {
        JsonObject listing;
        try {
            listing = send("GET", directory, "op=LISTSTATUS");
        } catch (FileNotFoundException e) {
            return List.of();
        }
        List<String> names = new ArrayList<>();
        for (JsonElement each : listing.getAsJsonObject("FileStatuses").getAsJsonArray("FileStatus")) {
            names.add(each.getAsJsonObject().get("pathSuffix").getAsString());
        }
        return names.stream().sorted().toList();
    }

    /**
     * What HDFS says of a path.
     *
     * @param permissions as octal digits
     */
    public record HdfsStatus(String owner, String group, String permissions, long lengthBytes) {}

    /** Owner, group and permissions of a path. */
    public HdfsStatus status(String path) throws IOException {
        JsonObject status = send("GET", path, "op=GETFILESTATUS").getAsJsonObject("FileStatus");
        return new HdfsStatus(
                status.get("owner").getAsString(),
                status.get("group").getAsString(),
                status.get("permission").getAsString(),
                status.get("length").getAsLong());
    }

    /** Gives a path an owner, a group, and permissions in octal digits. */
    public void change(String path, String owner, String group, String permissions) throws IOException {
        send("PUT", path, "op=SETOWNER&owner=" + owner + "&group=" + group);
        send("PUT", path, "op=SETPERMISSION&permission=" + permissions);
    }

    /** Limits a directory to so many names, itself among them, and to so many bytes; a block that is being written counts as a whole. */
    public void limit(String path, long names, long bytes) throws IOException {
        send("PUT", path, "op=SETQUOTA&namespacequota=" + names + "&storagespacequota=" + bytes);
    }

    /** Renames, over nothing. */
    public void rename(String from, String to) throws IOException {
        JsonObject said = send("PUT", from, "op=RENAME&destination=/" + to);
        if (!said.get("boolean").getAsBoolean()) {
            throw new IOException("HDFS does not rename " + from + " to " + to);
        }
    }

    private JsonObject send(String method, String path, String operation) throws IOException {
        String said = response(request(method, path, operation), path);
        return said.isEmpty() ? new JsonObject() : JsonParser.parseString(said).getAsJsonObject();
    }

    /** The data node to go to. */
    private URI redirected(String method, String path, String operation) throws IOException {
        HttpURLConnection request = request(method, path, operation);
        request.setInstanceFollowRedirects(false);
        response(request, path);
        String place = request.getHeaderField("Location");
        if (place == null) {
            throw new IOException("HDFS names no data node for " + path);
        }
        return URI.create(place);
    }

    private HttpURLConnection request(String method, String path, String operation) throws IOException {
        try {
            String query = operation + "&user.name=" + SUPERUSER;
            URI uri = new URI("http", null, "127.0.0.1", webPort, "/webhdfs/v1/" + path, query, null);
            HttpURLConnection request =
                    (HttpURLConnection) URI.create(uri.toASCIIString()).toURL().openConnection();
            request.setRequestMethod(method);
            return request;
        } catch (URISyntaxException e) {
            throw new IOException("Not a path: " + path, e);
        }
    }

    private static String response(HttpURLConnection request, String path) throws IOException {
        int status = request.getResponseCode();
        try (InputStream body = status < 400 ? request.getInputStream() : request.getErrorStream()) {
            String said = body == null ? "" : new String(body.readAllBytes(), StandardCharsets.UTF_8);
            if (status == 404) {
                throw new FileNotFoundException(path);
            }
            if (status >= 400) {
                throw new IOException(
                        "HDFS answers " + status + " to " + request.getURL().getQuery() + " of " + path + ": " + said);
            }
            return said;
        }
    }
}
