package io.posixgateway.fuse.session;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The kernel's own account of a FUSE connection, in the control file system (fusectl). Any thread; never touches the mount,
 * so it answers for a hung one as well.
 */
public final class KernelConnection {
    /** Where fusectl belongs; empty where it is not mounted. */
    public static final Path CONTROL = Path.of("/sys/fs/fuse/connections");

    /** The number of a connection of which nothing is known. */
    public static final long UNKNOWN = -1;

    private static final String LABEL = "fuse_connection:";

    private final long number;
    private final Path folder;

    /** @param number the minor device number of the mount; {@link #UNKNOWN} */
    public KernelConnection(long number, Path control) {
        this.number = number;
        this.folder = control.resolve(Long.toString(number));
    }

    /** Of a session; unknown of a kept one where neither the keeper nor the kernel (before 6.16) tells it. */
    static KernelConnection of(Connection connection) {
        String device = connection.device();
        long number =
                device == null ? numberOf(connection.fd()) : Long.parseLong(device.substring(device.indexOf(':') + 1));
        return new KernelConnection(number, CONTROL);
    }

    private static long numberOf(int fd) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo", Integer.toString(fd)))) {
                if (line.startsWith(LABEL)) {
                    return Long.parseLong(line.substring(LABEL.length()).trim());
                }
            }
        } catch (IOException | NumberFormatException e) {
            org.slf4j.LoggerFactory.getLogger(KernelConnection.class)
                    .debug("The connection's number is unknown: {}", e.toString());
        }
        return UNKNOWN;
    }

    /** The minor device number of every mount of this connection; {@link #UNKNOWN}. */
    public long number() {
        return number;
    }

    /** Requests that wait in the kernel or are under way here; -1: the kernel does not tell. */
    public long waiting() {
        try {
            return number == UNKNOWN
                    ? -1
                    : Long.parseLong(Files.readString(folder.resolve("waiting")).trim());
        } catch (IOException | NumberFormatException e) {
            return -1;
        }
    }

    /**
     * Ends the connection at once: everything that waits for it fails, now and later.
     *
     * @throws IOException saying what is missing
     */
    public void abort() throws IOException {
        if (number == UNKNOWN) {
            throw new IOException("the kernel does not report the connection's number; unmount with umount -f");
        }
        Path file = folder.resolve("abort");
        try {
            Files.write(file, "1".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new IOException(
                    file + " cannot be written (" + e.getMessage() + "); mount fusectl at " + CONTROL
                            + ", or unmount with umount -f",
                    e);
        }
    }
}
