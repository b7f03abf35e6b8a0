package io.posixgateway.alluxio.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;

/** Writes texts into a .tar.gz (POSIX ustar). One thread. */
final class TarGz implements AutoCloseable {
    private static final int BLOCK = 512;

    private final OutputStream out;
    private final long seconds;

    /** @param seconds time of every file, since 1970 */
    TarGz(OutputStream out, long seconds) throws IOException {
        this.out = new GZIPOutputStream(out);
        this.seconds = seconds;
    }

    /** A new file that only its owner may read. */
    static OutputStream file(Path file) throws IOException {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.newOutputStream(file, StandardOpenOption.WRITE);
    }

    /** @param name of at most 100 ASCII characters */
    void add(String name, String text) throws IOException {
        byte[] content = text.getBytes(StandardCharsets.UTF_8);
        byte[] header = new byte[BLOCK];
        put(header, 0, name);
        put(header, 100, "0000600");
        put(header, 108, "0000000");
        put(header, 116, "0000000");
        put(header, 124, octal(content.length, 11));
        put(header, 136, octal(seconds, 11));
        put(header, 148, "        ");
        put(header, 156, "0");
        put(header, 257, "ustar");
        put(header, 263, "00");
        int sum = 0;
        for (byte b : header) {
            sum += b & 0xff;
        }
        put(header, 148, octal(sum, 6) + "\0 ");
        out.write(header);
        out.write(content);
        out.write(new byte[(BLOCK - content.length % BLOCK) % BLOCK]);
    }

    private static String octal(long number, int digits) {
        return String.format(Locale.ROOT, "%0" + digits + "o", number);
    }

    private static void put(byte[] header, int at, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(bytes, 0, header, at, bytes.length);
    }

    /** Two empty blocks end the archive. */
    @Override
    public void close() throws IOException {
        out.write(new byte[2 * BLOCK]);
        out.close();
    }
}
