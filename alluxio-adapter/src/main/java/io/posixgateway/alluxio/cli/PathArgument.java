package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Name;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Paths as they were given on the command line: Java makes text of arguments, and U+FFFD of each byte that is no UTF-8. */
final class PathArgument {
    private PathArgument() {}

    /** The path with names that are no UTF-8 as Alluxio stores them; as it is where it has none, or cannot be read again. */
    static String of(String text) {
        if (text.indexOf('\uFFFD') < 0) {
            return text;
        }
        try {
            return of(text, Files.readAllBytes(Path.of("/proc/self/cmdline")));
        } catch (IOException e) {
            return text;
        }
    }

    /** @param commandLine all arguments, each with a NUL behind it */
    static String of(String text, byte[] commandLine) {
        ByteArrayOutputStream argument = new ByteArrayOutputStream();
        for (byte b : commandLine) {
            if (b != 0) {
                argument.write(b);
                continue;
            }
            if (argument.toString(StandardCharsets.UTF_8).equals(text)) {
                return escaped(argument.toByteArray());
            }
            argument.reset();
        }
        return text;
    }

    private static String escaped(byte[] path) {
        StringBuilder text = new StringBuilder();
        int from = 0;
        for (int at = 0; at <= path.length; at++) {
            if (at == path.length || path[at] == '/') {
                text.append(from == 0 ? "" : "/").append(component(Arrays.copyOfRange(path, from, at)));
                from = at + 1;
            }
        }
        return text.toString();
    }

    private static String component(byte[] name) {
        String text = new String(name, StandardCharsets.UTF_8);
        boolean whole = Arrays.equals(text.getBytes(StandardCharsets.UTF_8), name);
        return whole ? text : NameCodec.ESCAPED.stored(Name.of(name));
    }
}
