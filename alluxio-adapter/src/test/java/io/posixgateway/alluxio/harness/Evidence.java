package io.posixgateway.alluxio.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What is to be kept of a trial that failed, at the moment it did: in {@code alluxio-adapter/target/fault/evidence-…}, where it
 * outlives the processes and folders of the test.
 */
public final class Evidence {
    private static final long DUMP_SECONDS = 20;

    private final Path folder;

    public Evidence(String trial) throws IOException {
        Path all = Files.createDirectories(Built.root().resolve("alluxio-adapter/target/fault"));
        this.folder = Files.createTempDirectory(all, "evidence-" + trial + "-");
        System.out.println("trial " + trial + " failed; see " + folder);
    }

    /** Keeps the stacks of all threads of every JVM that this one started. */
    public Evidence threads() throws IOException, InterruptedException {
        for (ProcessHandle process : ProcessHandle.current().descendants().toList()) {
            boolean jvm =
                    process.info().command().map(path -> path.endsWith("/java")).orElse(false);
            if (jvm) {
                Path file = folder.resolve("threads-" + process.pid() + ".txt");
                Process dump = new ProcessBuilder("jcmd", Long.toString(process.pid()), "Thread.print", "-l")
                        .redirectErrorStream(true)
                        .redirectOutput(file.toFile())
                        .start();
                if (!dump.waitFor(DUMP_SECONDS, TimeUnit.SECONDS)) {
                    dump.destroyForcibly();
                }
            }
        }
        return this;
    }

    /** Keeps files of a folder whose names end so. */
    public Evidence files(Path from, String ending) throws IOException {
        if (!Files.isDirectory(from)) {
            return this;
        }
        try (Stream<Path> names = Files.list(from)) {
            for (Path file :
                    names.filter(name -> name.toString().endsWith(ending)).toList()) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
        }
        return this;
    }

    /** Keeps a text. */
    public Evidence text(String name, List<String> lines) throws IOException {
        Files.write(folder.resolve(name), lines);
        return this;
    }
}
