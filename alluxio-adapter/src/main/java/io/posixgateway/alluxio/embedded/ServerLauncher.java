package io.posixgateway.alluxio.embedded;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The main class of a child JVM: runs an Alluxio server, or an HDFS, until standard input ends, that is, until the parent closes it or
 * dies in whatever way.
 *
 * <p>Arguments: {@code master}, {@code worker}, {@code job-master}, {@code job-worker} or {@code hdfs}, then the folder of a master's
 * journal, which is formatted if it is empty ({@code -}: none), then a folder to remove when the parent has died ({@code -}: none); of an
 * HDFS its folder, its port and that of WebHDFS.
 */
public final class ServerLauncher {
    /** In place of a folder. */
    static final String NONE = "-";

    private ServerLauncher() {}

    /** Starts the server; ends only with the process. */
    public static void main(String[] arguments) throws Exception {
        String role = arguments[0];
        endWithParent(arguments[2]);
        if (role.equals(HdfsLauncher.ROLE)) {
            HdfsLauncher.start(Path.of(arguments[3]), Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]));
            return;
        }
        if (!arguments[1].equals(NONE) && isEmpty(Path.of(arguments[1]))) {
            formatJournal();
        }
        String main =
                switch (role) {
                    case "master" -> "alluxio.master.AlluxioMaster";
                    case "job-master" -> "alluxio.master.AlluxioJobMaster";
                    case "job-worker" -> "alluxio.worker.AlluxioJobWorker";
                    default -> "alluxio.worker.AlluxioWorker";
                };
        invoke(Class.forName(main).getMethod("main", String[].class), (Object) new String[0]);
    }

    private static void endWithParent(String folder) {
        Thread watch = new Thread(
                () -> {
                    awaitEndOfInput();
                    if (!folder.equals(NONE)) {
                        removeWhileOthersEnd(Path.of(folder));
                    }
                    Runtime.getRuntime().halt(0);
                },
                "parent-watch");
        watch.setDaemon(true);
        watch.start();
    }

    /** The other servers may still write for a moment: tries again for a while. */
    private static void removeWhileOthersEnd(Path folder) {
        for (int tries = 0; tries < 10 && Files.exists(folder); tries++) {
            removeTree(folder);
            LockSupport.parkNanos(100_000_000L);
        }
    }

    private static void awaitEndOfInput() {
        try {
            System.in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            complain("The pipe from the parent failed", e);
        }
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.findAny().isEmpty();
        }
    }

    private static void formatJournal() throws ReflectiveOperationException {
        Class<?> mode = Class.forName("alluxio.cli.Format$Mode");
        Object master = mode.getMethod("valueOf", String.class).invoke(null, "MASTER");
        Object configuration =
                Class.forName("alluxio.conf.Configuration").getMethod("global").invoke(null);
        Class<?> configurationType = Class.forName("alluxio.conf.AlluxioConfiguration");
        invoke(Class.forName("alluxio.cli.Format").getMethod("format", mode, configurationType), master, configuration);
    }

    private static void invoke(Method method, Object... arguments) throws ReflectiveOperationException {
        try {
            method.invoke(null, arguments);
        } catch (InvocationTargetException e) {
            complain(method + " failed", e.getTargetException());
            Runtime.getRuntime().halt(1);
        }
    }

    private static void complain(String what, Throwable cause) {
        PrintStream log = System.err;
        log.println(what);
        cause.printStackTrace(log);
    }

    /** Removes a folder and all below it, as far as that is possible. */
    static void removeTree(Path folder) {
        try (Stream<Path> tree = Files.walk(folder)) {
            List<Path> deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
            for (Path path : deepestFirst) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | java.io.UncheckedIOException e) {
            complain("Cannot remove all of " + folder, e);
        }
    }
}
