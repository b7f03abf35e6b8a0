package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.session.KernelConnection;
import io.posixgateway.fuse.session.RequestTimeout;
import io.posixgateway.fuse.session.UringRefusal;
import java.io.IOException;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * What a maintainer needs to see of this process, as named texts without secrets. Does not ask the mounts, and waits for Alluxio, which
 * one text asks, no longer than {@link #ADVICE_NANOS}: so it answers when they do not.
 */
public final class SupportBundle {
    /** The text with what an operator should change, a line for each; {@link StoreAdvice#NONE}: nothing. */
    public static final String ADVICE = "advice.txt";

    private static final long ADVICE_NANOS = 5_000_000_000L;

    private final Gateway gateway;

    public SupportBundle(Gateway gateway) {
        this.gateway = gateway;
    }

    /** A part of it; what cannot be told says why. */
    private interface Part {
        String text() throws IOException;
    }

    /** File name to content. */
    public Map<String, String> texts() {
        List<ServedVolume> volumes = gateway.all();
        Redactor redactor = new Redactor(secrets(volumes));
        Map<String, String> texts = new LinkedHashMap<>();
        add(texts, redactor, "version.txt", this::version);
        add(texts, redactor, "kernel.txt", SupportBundle::kernel);
        add(texts, redactor, "volumes.txt", () -> describe(volumes));
        add(texts, redactor, "requests.txt", () -> requests(volumes));
        add(texts, redactor, "metrics.txt", gateway::metrics);
        add(texts, redactor, "threads.txt", SupportBundle::threads);
        add(texts, redactor, "process.txt", SupportBundle::process);
        add(
                texts,
                redactor,
                ADVICE,
                () -> StoreAdvice.and(RequestTimeout.warning(), StoreAdvice.text(stores(volumes), ADVICE_NANOS)));
        add(texts, redactor, "log.txt", Logging::recent);
        return texts;
    }

    private static List<Store> stores(List<ServedVolume> volumes) {
        return volumes.stream().map(ServedVolume::store).toList();
    }

    private static void add(Map<String, String> texts, Redactor redactor, String name, Part part) {
        String text;
        try {
            text = part.text();
        } catch (IOException | RuntimeException e) {
            text = "not available: " + e + "\n";
        }
        texts.put(name, redactor.clean(text));
    }

    private static List<Map<String, String>> secrets(List<ServedVolume> volumes) {
        List<Map<String, String>> settings = new ArrayList<>();
        for (ServedVolume volume : volumes) {
            settings.add(volume.request().getCluster().getPropertiesMap());
            settings.add(volume.store().settings());
        }
        settings.add(System.getenv());
        return settings;
    }

    private String version() {
        return "posix-gateway " + gateway.version() + "\n"
                + "java " + Runtime.version() + " " + System.getProperty("java.vm.name") + "\n"
                + "pid " + ProcessHandle.current().pid() + "\n"
                + "ready " + gateway.ready() + "\n"
                + "up for " + ManagementFactory.getRuntimeMXBean().getUptime() / 1000 + " s\n"
                + "processors " + Runtime.getRuntime().availableProcessors() + "\n"
                + "heap, bytes: used "
                + (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) + ", most "
                + Runtime.getRuntime().maxMemory() + "\n"
                + "options of the JVM: " + ManagementFactory.getRuntimeMXBean().getInputArguments() + "\n";
    }

    private static String kernel() {
        return read(Path.of("/proc/version"))
                + "/dev/fuse is "
                + (Files.isWritable(Path.of("/dev/fuse")) ? "usable" : "not accessible to this process") + "\n"
                + "enable_uring is " + read(Path.of("/sys/module/fuse/parameters/enable_uring"))
                + "io_uring is " + Objects.requireNonNullElse(UringRefusal.ofThisProcess(), "allowed to this process")
                + "\n"
                + "max_user_bgreq is " + read(Path.of("/sys/module/fuse/parameters/max_user_bgreq"))
                + "fusectl at " + KernelConnection.CONTROL + ": " + connections() + "\n"
                + "memory limit (cgroup v2): " + read(Path.of("/sys/fs/cgroup/memory.max"))
                + "memory limit (cgroup v1): " + read(Path.of("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    }

    private static String connections() {
        try (Stream<Path> found = Files.list(KernelConnection.CONTROL)) {
            List<String> names =
                    found.map(path -> path.getFileName().toString()).sorted().toList();
            return names.isEmpty() ? "not mounted, or no connection" : String.join(" ", names);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static String describe(List<ServedVolume> volumes) {
        StringBuilder text = new StringBuilder();
        for (ServedVolume volume : volumes) {
            AttachRequest request = volume.request();
            text.append("volume ").append(volume.name());
            text.append("\n  path ").append(request.getAlluxioPath());
            text.append("\n  masters ").append(request.getCluster().getMasters());
            text.append("\n  user ").append(volume.store().user());
            text.append("\n  options ").append(request.getOptionsMap());
            text.append("\n  properties ").append(request.getCluster().getPropertiesMap());
            text.append("\n  session ").append(volume.session().line());
            text.append("\n  connection ")
                    .append(volume.session().kernelConnection().number());
            text.append("\n  waiting in the kernel ")
                    .append(volume.session().kernelConnection().waiting());
            text.append("\n  takeovers ").append(volume.takeovers());
            text.append("\n  stats ").append(volume.stats());
            text.append("\n  counts ").append(volume.counts()).append("\n\n");
        }
        return text.isEmpty() ? "no volumes\n" : text.toString();
    }

    private static String requests(List<ServedVolume> volumes) {
        StringBuilder text = new StringBuilder("Requests in flight, by volume.\n");
        for (ServedVolume volume : volumes) {
            text.append(volume.name())
                    .append(", beside ")
                    .append(volume.session().metrics().delayed())
                    .append(" delayed by its limits\n");
            for (InFlightRequest request : volume.session().inFlight(0)) {
                text.append("  ").append(request).append('\n');
            }
        }
        return text.toString();
    }

    private static String threads() {
        StringBuilder text = new StringBuilder();
        for (ThreadInfo thread : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
            text.append('"').append(thread.getThreadName()).append("\" ").append(thread.getThreadState());
            LockInfo lock = thread.getLockInfo();
            if (lock != null) {
                text.append(" on ").append(lock).append(" of ").append(thread.getLockOwnerName());
            }
            for (StackTraceElement at : thread.getStackTrace()) {
                text.append("\n    at ").append(at);
            }
            text.append("\n\n");
        }
        return text.toString();
    }

    private static String process() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return read(Path.of("/proc/self/status")) + read(Path.of("/proc/self/limits")) + "open descriptors "
                    + open.count() + "\n";
        }
    }

    private static String read(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "(not there: " + e.getMessage() + ")\n";
        }
    }
}
