package io.posixgateway.fuse.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.BooleanSupplier;

/**
 * The kernel's own account of a FUSE connection, in the control file system (fusectl). Any thread; never touches the mount,
 * so it answers for a hung one as well.
 *
 * <p>The number of a connection that has ended is the next mount's at once, but a file of fusectl that is open stays with its
 * connection and loses it when that ends. So a file is opened first, and used only if the connection is there afterwards.
 */
public final class KernelConnection {
    /** Where fusectl belongs; empty where it is not mounted. */
    public static final Path CONTROL = Path.of("/sys/fs/fuse/connections");

    /** The number of a connection of which nothing is known. */
    public static final long UNKNOWN = -1;

    private static final String LABEL = "fuse_connection:";
    private static final int MAX_WAITING_BYTES = 32;

    private final long number;
    private final Path folder;
    private final BooleanSupplier connected;

    /**
     * @param number the minor device number of the mount; {@link #UNKNOWN}
     * @param connected whether the connection has not ended; false for good once it has
     */
    KernelConnection(long number, Path control, BooleanSupplier connected) {
        this.number = number;
        this.folder = control.resolve(Long.toString(number));
        this.connected = connected;
    }

    /**
     * Of a session; unknown of a kept one where neither the keeper nor the kernel (before 6.16) tells it.
     *
     * @param connected whether it has not ended; false for good once it has
     */
    static KernelConnection of(Connection connection, BooleanSupplier connected) {
        String device = connection.device();
        long number =
                device == null ? numberOf(connection.fd()) : Long.parseLong(device.substring(device.indexOf(':') + 1));
        return new KernelConnection(number, CONTROL, connected);
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

    /** The minor device number of every mount of this connection, another's once this has ended; {@link #UNKNOWN}. */
    public long number() {
        return number;
    }

    /** Whether the connection has not ended, so that the number is its own. */
    public boolean isConnected() {
        return connected.getAsBoolean();
    }

    /** Requests that wait in the kernel or are under way here; -1: the kernel does not tell, or the connection has ended. */
    public long waiting() {
        if (number == UNKNOWN) {
            return -1;
        }
        try (SeekableByteChannel file = Files.newByteChannel(folder.resolve("waiting"))) {
            ByteBuffer text = ByteBuffer.allocate(MAX_WAITING_BYTES);
            if (!isConnected() || file.read(text) < 0) {
                return -1;
            }
            return Long.parseLong(new String(text.array(), 0, text.position(), StandardCharsets.US_ASCII).trim());
        } catch (IOException | NumberFormatException e) {
            return -1;
        }
    }

    /**
     * Ends the connection at once, unless it has ended: everything that waits for it fails, now and later.
     *
     * @throws IOException saying what is missing
     */
    public void abort() throws IOException {
        if (number == UNKNOWN) {
            throw new IOException("the kernel does not report the connection's number; unmount with umount -f");
        }
        Path path = folder.resolve("abort");
        try (SeekableByteChannel file = Files.newByteChannel(path, StandardOpenOption.WRITE)) {
            if (isConnected()) {
                file.write(ByteBuffer.wrap(new byte[] {'1'}));
            }
        } catch (IOException e) {
            if (!isConnected()) {
                return;
            }
            throw new IOException(
                    path + " cannot be written (" + e.getMessage() + "); mount fusectl at " + CONTROL
                            + ", or unmount with umount -f",
                    e);
        }
    }
}
