package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Compares a mount with the folder behind it: every name, length and checksum; then writes through the mount and reads
 * back by Alluxio's own shell. Gathers what differs.
 */
final class DemoCheck {
    private static final int MAX_TOLD = 20;
    private static final int BUFFER_BYTES = 1 << 20;

    private final List<String> differences = new ArrayList<>();
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private long files;
    private long bytes;

    /** Sum and length of one file. */
    private record Sum(String sha256, long bytes) {}

    /** Compares every file of the two trees. */
    void compare(Path truth, Path mount) throws IOException {
        Map<String, Sum> expected = sums(truth);
        Map<String, Sum> seen = sums(mount);
        expected.forEach((name, sum) -> {
            Sum other = seen.remove(name);
            if (other == null) {
                differs(name + " is missing in the mount");
            } else if (!other.equals(sum)) {
                differs(name + " has " + other + " in the mount, but " + sum + " in the UFS");
            } else {
                files++;
                bytes += sum.bytes();
            }
        });
        seen.keySet().forEach(name -> differs(name + " is in the mount, but not in the UFS"));
    }

    /** Writes files through the mount and asks Alluxio's shell for their bytes. */
    void writeAndReadBack(Path mount, EmbeddedAlluxio alluxio, Path scratch) throws IOException {
        Path folder = Files.createDirectory(mount.resolve("written"));
        byte[] text = "written through the mount\n".getBytes(StandardCharsets.UTF_8);
        byte[] large = new byte[3_000_001];
        new Random(large.length).nextBytes(large);
        for (byte[] content : List.of(text, large)) {
            Path file = folder.resolve("file of " + content.length + " bytes");
            Files.write(file, content);
            if (!Arrays.equals(Files.readAllBytes(file), content)) {
                differs(file.getFileName() + " differs when it is read back through the mount");
            }
            Path copy = scratch.resolve("copy-" + content.length);
            EmbeddedAlluxio.ShellResult result =
                    alluxio.shell("copyToLocal", "/written/" + file.getFileName(), copy.toString());
            if (result.exit() != 0) {
                differs(file.getFileName() + " cannot be read by Alluxio's shell: " + result.output()
                        + result.errors());
            } else if (!Arrays.equals(Files.readAllBytes(copy), content)) {
                differs(file.getFileName() + " differs when Alluxio's shell reads it");
            } else {
                files++;
                bytes += content.length;
            }
        }
    }

    private Map<String, Sum> sums(Path root) throws IOException {
        Map<String, Sum> sums = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(root)) {
            paths.filter(Files::isRegularFile)
                    .forEach(path -> sums.put(root.relativize(path).toString(), sum(path)));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return sums;
    }

    private Sum sum(Path path) {
        try (InputStream plain = Files.newInputStream(path)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            DigestInputStream in = new DigestInputStream(plain, digest);
            long length = 0;
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                length += count;
            }
            return new Sum(HexFormat.of().formatHex(digest.digest()), length);
        } catch (IOException e) {
            throw new UncheckedIOException(path + " cannot be read: " + e.getMessage(), e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private void differs(String what) {
        differences.add(what);
    }

    /** The line of success; throws with what differed. */
    String bypassResult(String transport) {
        if (differences.isEmpty()) {
            return "demo ok: " + files + " files, " + bytes + " bytes verified, transport " + transport;
        }
        List<String> told = differences.subList(0, Math.min(differences.size(), MAX_TOLD));
        String more = differences.size() > MAX_TOLD ? "\n… and " + (differences.size() - MAX_TOLD) + " more" : "";
        throw new CommandException("demo failed:\n" + String.join("\n", told) + more);
    }
}
