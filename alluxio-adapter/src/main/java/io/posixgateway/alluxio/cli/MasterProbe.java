package io.posixgateway.alluxio.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says early that a mount waits for Alluxio: its client connects for seconds before it gives up. Connects to the masters once, beside
 * the mount, which it neither delays nor decides.
 */
final class MasterProbe {
    private static final int TIMEOUT_MILLIS = 1000;

    private MasterProbe() {}

    /**
     * Prints a line within about a second when no master accepts a connection. Returns at once.
     *
     * @param masters host:port, with commas between several; empty: none is known here, and nothing is printed
     */
    static void begin(String masters, PrintWriter err) {
        if (masters.isEmpty()) {
            return;
        }
        Thread thread = new Thread(
                () -> {
                    String why = unreachable(masters, TIMEOUT_MILLIS);
                    if (why != null) {
                        err.println("posix-gateway: waiting for Alluxio's master at " + why + "; Ctrl-C stops waiting");
                        err.flush();
                    }
                },
                "master-probe");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Why none of the masters can be reached, each with its reason; null: one accepts connections.
     *
     * @param timeoutMillis for each of them
     */
    static @Nullable String unreachable(String masters, int timeoutMillis) {
        List<String> reasons = new ArrayList<>();
        for (String master : masters.split(",", -1)) {
            int colon = master.lastIndexOf(':');
            String host = master.substring(0, colon).replaceAll("^\\[|]$", "");
            InetSocketAddress address = new InetSocketAddress(host, Integer.parseInt(master.substring(colon + 1)));
            try (Socket socket = new Socket()) {
                socket.connect(address, timeoutMillis);
                return null;
            } catch (IOException e) {
                reasons.add(master + " (" + (address.isUnresolved() ? "unknown host" : e.getMessage()) + ")");
            }
        }
        return String.join(", ", reasons);
    }
}
