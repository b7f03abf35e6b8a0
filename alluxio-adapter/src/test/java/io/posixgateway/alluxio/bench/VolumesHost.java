package io.posixgateway.alluxio.bench;

import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.control.proto.DetachRequest;
import io.posixgateway.alluxio.harness.Node;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A keeper and a gateway that serves more and more volumes, for the benchmark. Says {@code READY pid}, then answers each line of
 * input: a number by {@code OK} and the milliseconds that each attach took until there were so many; {@code know} by {@code OK}
 * and how many names there are, once all volumes were listed with their attributes. Ends with standard input.
 */
public final class VolumesHost {
    private static final PrintStream OUT = System.out;

    private final Node node;
    private final String masters;
    private final Path file;
    private final List<Path> mounts = new ArrayList<>();
    private int attached;

    private VolumesHost(Node node, String masters, Path file) {
        this.node = node;
        this.masters = masters;
        this.file = file;
    }

    /** Arguments: a folder with a short path, "host:port" of the master, a file there that each volume must show. */
    public static void main(String[] arguments) throws Exception {
        try (Node node = new Node(Path.of(arguments[0]))) {
            node.awaitReady();
            OUT.println("READY " + node.gateway().pid());
            new VolumesHost(node, arguments[1], Path.of(arguments[2])).serve();
        }
    }

    private void serve() throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            StringBuilder answer = new StringBuilder("OK");
            if (line.equals("know")) {
                OUT.println("OK " + know());
                continue;
            }
            while (attached < Integer.parseInt(line)) {
                answer.append(' ').append(attach(attached++));
            }
            OUT.println(answer);
        }
        for (int i = 0; i < attached; i++) {
            node.control().detach(DetachRequest.newBuilder().setVolume("v" + i).build());
            node.unmount("v" + i);
        }
    }

    private long know() throws Exception {
        long names = 0;
        for (int i = 0; i < attached; i++) {
            try (Stream<Path> files = Files.walk(mounts.get(i))) {
                names += files.mapToLong(each -> each.toFile().length() >= 0 ? 1 : 0)
                        .sum();
            }
        }
        return names;
    }

    /** Until the volume can be read. */
    private double attach(int number) throws Exception {
        String volume = "v" + number;
        Path mount = node.mount(volume);
        mounts.add(mount);
        AttachRequest request = Node.request(volume, masters, String.valueOf(file.getParent()));
        long began = System.nanoTime();
        node.control().attach(request);
        double millis = (System.nanoTime() - began) / 1e6;
        if (Files.size(mount.resolve(file.getFileName())) == 0) {
            throw new IllegalStateException(file + " is empty on " + mount);
        }
        return millis;
    }
}
