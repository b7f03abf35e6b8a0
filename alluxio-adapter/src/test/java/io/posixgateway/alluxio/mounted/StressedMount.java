package io.posixgateway.alluxio.mounted;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A mount that reads in its own way, and the programs that do random operations on it. */
final class StressedMount implements AutoCloseable {
    private final String folder;
    private final AlluxioFileSystem fs;
    private final MountedFileSystem mounted;
    private final List<Command> running = new ArrayList<>();

    StressedMount(Map<String, String> options) throws Exception {
        folder = SharedAlluxio.folder();
        fs = SharedAlluxio.open(folder, options);
        mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO);
    }

    /** Starts one more, in a directory of its own. */
    void start(String script, long seed, int seconds) throws Exception {
        URL found = Objects.requireNonNull(StressedMount.class.getResource("/" + script));
        String name = "stress-" + running.size();
        running.add(new Command(
                "python3",
                Path.of(found.toURI()).toString(),
                mounted.root().resolve(name).toString(),
                SharedAlluxio.ufs(folder).resolve(name).toString(),
                Long.toString(seed),
                Integer.toString(seconds)));
    }

    /** Waits for their ends, and counts what each kind of operation was done how often; what was not as in the model. */
    List<String> differences(int seconds, Map<String, Long> operations) throws InterruptedException {
        List<String> found = new ArrayList<>();
        for (Command command : running) {
            try {
                if (command.await(seconds) != 0) {
                    found.add(command + ":\n" + command.output());
                }
            } catch (AssertionError stuck) {
                found.add(String.valueOf(stuck.getMessage()));
            }
            command.output().lines().filter(line -> line.startsWith("{\"")).forEach(line -> count(line, operations));
        }
        return found;
    }

    private static void count(String line, Map<String, Long> operations) {
        JsonObject counts = JsonParser.parseString(line).getAsJsonObject();
        for (Map.Entry<String, JsonElement> each : counts.entrySet()) {
            operations.merge(each.getKey(), each.getValue().getAsLong(), Long::sum);
        }
    }

    /** What was read in each way. */
    Map<String, Long> reads() {
        AlluxioFileSystem.Counts counts = fs.counts();
        Map<String, Long> reads = new LinkedHashMap<>();
        reads.put("local_bytes", counts.localReadBytes());
        reads.put("remote_bytes", counts.remoteReadBytes());
        reads.put("ufs_bytes", fs.store().ufsBytes());
        return reads;
    }

    @Override
    public void close() throws IOException {
        for (Command command : running) {
            command.close();
        }
        mounted.close();
    }
}
