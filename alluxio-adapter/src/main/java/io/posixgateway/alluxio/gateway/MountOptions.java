package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.options.Option;
import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.options.OptionTable;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.dispatch.RateLimit;
import io.posixgateway.fuse.session.MountFlag;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.session.SessionOptions.Feature;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The options of a session with the kernel, whatever the file system: declared, and turned into {@link SessionOptions}. */
public final class MountOptions {
    /** Options that limit what a session may ask for. */
    static final String BYTES_PER_SECOND = "bytes_per_second";

    static final String REQUESTS_PER_SECOND = "requests_per_second";

    private static final long MAX_SECONDS = 604_800;

    private static final int MIN_POOL_THREADS = 16;
    private static final int MAX_POOL_THREADS = 64;

    /** Options of every mount. */
    public static final OptionTable SESSION = new OptionTable(
            List.of(
                    Option.oneOf(
                            "transport",
                            "auto",
                            "Transport of requests from the kernel; auto chooses the first of uring, devfuse and"
                                    + " libfuse that the kernel allows. With a keeper, auto means devfuse, and"
                                    + " libfuse is not possible.",
                            "auto",
                            "uring",
                            "devfuse",
                            "libfuse"),
                    Option.onOff("ro", false, "Mount read-only; both the kernel and the gateway refuse changes."),
                    Option.onOff(
                            "suid",
                            false,
                            "Set-user-id and set-group-id bits of programs take effect. Only for root's mounts."),
                    Option.onOff("dev", false, "Devices can be opened. Only for root's mounts."),
                    Option.onOff("exec", true, "Programs can be run."),
                    Option.onOff(
                            "sync",
                            false,
                            "Each write is uploaded to Alluxio before it returns, as after fsync; slow."),
                    Option.onOff(
                            "dirsync",
                            false,
                            "Shown in /proc/mounts; changes of names are always written to Alluxio at once."),
                    Option.oneOf(
                            "access_time",
                            "relatime",
                            "Shown in /proc/mounts; reads never update the access time in Alluxio.",
                            "relatime",
                            "noatime",
                            "nodiratime",
                            "strictatime"),
                    Option.onOff("allow_other", false, "Users other than the one who mounts may access the mount."),
                    Option.onOff("default_permissions", true, "The kernel checks permission bits."),
                    Option.onOff(
                            "id_map",
                            false,
                            "Allow id-mapped mounts of this mount, which show other owners (Linux 6.12, with"
                                    + " default_permissions). The kernel then reports users for creations only, and"
                                    + " so does the access log."),
                    new Option(
                            "max_io",
                            new Option.Size(128 << 10, 1 << 20),
                            "1M",
                            "Largest read or write request of the kernel; a multiple of 4K."),
                    new Option(
                            "max_threads",
                            new Option.Whole(0, 1024),
                            "0",
                            "Threads that receive requests on devfuse; 0: two per CPU, at most 16."),
                    new Option(
                            "pool_threads",
                            new Option.Whole(0, 4096),
                            "0",
                            "Maximum number of requests of this mount that wait for Alluxio concurrently; 0: two per"
                                    + " CPU, at least 16 and at most 64."),
                    new Option(
                            BYTES_PER_SECOND,
                            new Option.Size(1 << 20, 1L << 40),
                            "",
                            "Maximum bytes per second that are read, written and copied through this mount, without"
                                    + " the kernel's page cache; by default no limit. Requests above it wait and"
                                    + " never fail. It turns passthrough and bypass off."),
                    new Option(
                            REQUESTS_PER_SECOND,
                            new Option.Whole(1, 10_000_000),
                            "",
                            "Maximum requests per second from the kernel; by default no limit. Requests above it wait"
                                    + " and never fail."),
                    new Option(
                            "queue_depth",
                            new Option.Whole(0, 1024),
                            "0",
                            "Entries of each uring queue; 0: chosen by the number of CPUs."),
                    new Option(
                            "spin",
                            new Option.Whole(0, 10_000),
                            "0",
                            "Microseconds for which a uring thread polls for work before it sleeps; 0: it sleeps at"
                                    + " once."),
                    Option.onOff(
                            "sched_idle",
                            true,
                            "Run uring threads as SCHED_IDLE, after the programs they serve, while requests come in"
                                    + " quick succession; needs CAP_SYS_NICE."),
                    Option.onOff(
                            "enable_uring",
                            false,
                            "Switch the kernel's enable_uring on if it is off; this affects the whole machine."),
                    Option.oneOf(
                            "readdirplus",
                            "on",
                            "Listings return attributes, so that the kernel need not look up each name: always (on),"
                                    + " when the kernel expects to need them (auto), or never (off).",
                            "on",
                            "auto",
                            "off"),
                    Option.onOff("writeback_cache", false, "The kernel combines small writes before it sends them."),
                    new Option(
                            "slow_request",
                            new Option.Time(0, MAX_SECONDS),
                            "30s",
                            "A request older than this is logged with its thread's stack, and counted; 0: never."),
                    new Option(
                            "interrupt_after",
                            new Option.Time(0, MAX_SECONDS),
                            "5m",
                            "A single call to Alluxio that takes longer is interrupted, and its request fails with"
                                    + " ETIMEDOUT; 0: never. Listings, copies and uploads have no limit."),
                    new Option(
                            "abort_after",
                            new Option.Time(0, MAX_SECONDS),
                            "0",
                            "A request older than this aborts the whole mount, as a last resort; 0: never.")),
            replaced(),
            words(),
            Map.of("stand_back", "sched_idle"));

    private MountOptions() {}

    /**
     * Of a session that this process mounts itself; a guard unmounts when the process is killed.
     *
     * @param values of a table that holds {@link #SESSION}
     * @param sourceName first column of /proc/mounts
     */
    public static SessionOptions mounted(OptionValues values, String sourceName) {
        return session(values, sourceName, values.on("ro"), true);
    }

    /** Of a session whose mount the keeper made and keeps. */
    public static SessionOptions kept(OptionValues values, String sourceName, boolean readOnly) {
        return session(values, sourceName, readOnly || values.on("ro"), false);
    }

    private static SessionOptions session(OptionValues values, String sourceName, boolean readOnly, boolean guard) {
        if (values.declares("no_open") && values.on("no_open") && !readOnly) {
            throw new OptionException(
                    "option no_open needs a read-only mount, because the gateway must see the opens of writers; add"
                            + " ro (of a volume: readOnly), or leave no_open out");
        }
        Map<Feature, String> off = new EnumMap<>(SessionOptions.defaults().off());
        String against = againstPassthrough(values, readOnly);
        if (against != null) {
            off.put(Feature.PASSTHROUGH, against);
        }
        set(off, Feature.READDIRPLUS, !values.text("readdirplus").equals("off"));
        set(off, Feature.READDIRPLUS_AUTO, values.text("readdirplus").equals("auto"));
        set(off, Feature.STAND_BACK, values.on("sched_idle"));
        set(off, Feature.WRITEBACK_CACHE, values.on("writeback_cache"));
        set(off, Feature.ID_MAP, values.on("id_map"));
        return new SessionOptions(
                TransportChoice.valueOf(values.text("transport").toUpperCase(Locale.ROOT)),
                sourceName,
                readOnly,
                values.on("allow_other"),
                values.on("default_permissions"),
                flags(values),
                (int) values.bytes("max_io") & -4096,
                (int) values.number("max_threads"),
                (int) values.number("queue_depth"),
                poolThreads((int) values.number("pool_threads")),
                (int) values.number("spin"),
                values.on("enable_uring"),
                guard,
                off,
                limit(values));
    }

    private static RateLimit limit(OptionValues values) {
        return new RateLimit(
                values.given(BYTES_PER_SECOND) ? values.bytes(BYTES_PER_SECOND) : 0,
                values.given(REQUESTS_PER_SECOND) ? values.number(REQUESTS_PER_SECOND) : 0);
    }

    /** Flags of mount(2) that were asked for. */
    private static Set<MountFlag> flags(OptionValues values) {
        Set<MountFlag> flags = EnumSet.noneOf(MountFlag.class);
        add(flags, MountFlag.NOSUID, !values.on("suid"));
        add(flags, MountFlag.NODEV, !values.on("dev"));
        add(flags, MountFlag.NOEXEC, !values.on("exec"));
        add(flags, MountFlag.SYNC, values.on("sync"));
        add(flags, MountFlag.DIRSYNC, values.on("dirsync"));
        String times = values.text("access_time");
        add(flags, MountFlag.NOATIME, times.equals("noatime"));
        add(flags, MountFlag.NODIRATIME, times.equals("nodiratime"));
        add(flags, MountFlag.STRICTATIME, times.equals("strictatime"));
        return flags;
    }

    /** What a keeper is to mount differently: it knows {@code nosuid} and {@code nodev} as what holds when nothing is said. */
    public static List<String> keeperWords(OptionValues values) {
        Set<MountFlag> flags = flags(values);
        List<String> words = new ArrayList<>();
        MountFlag.SAFE.stream()
                .filter(flag -> !flags.contains(flag))
                .map(flag -> flag.name().toLowerCase(Locale.ROOT).substring(2))
                .forEach(words::add);
        flags.stream()
                .filter(flag -> !MountFlag.SAFE.contains(flag))
                .map(flag -> flag.name().toLowerCase(Locale.ROOT))
                .forEach(words::add);
        return words;
    }

    private static void add(Set<MountFlag> flags, MountFlag flag, boolean wanted) {
        if (wanted) {
            flags.add(flag);
        }
    }

    private static int poolThreads(int given) {
        int cpus = Runtime.getRuntime().availableProcessors();
        return given > 0 ? given : Math.min(MAX_POOL_THREADS, Math.max(MIN_POOL_THREADS, 2 * cpus));
    }

    private static void set(Map<Feature, String> off, Feature feature, boolean wanted) {
        if (wanted) {
            off.remove(feature);
        } else {
            off.put(feature, SessionOptions.SWITCHED_OFF);
        }
    }

    /** Null: nothing is. */
    private static @Nullable String againstPassthrough(OptionValues values, boolean readOnly) {
        if (!values.declares("passthrough")) {
            return null;
        }
        if (values.text("passthrough").equals("off")) {
            return SessionOptions.SWITCHED_OFF;
        }
        if (values.given(BYTES_PER_SECOND)) {
            return "excluded by bytes_per_second";
        }
        boolean changes = !readOnly && !values.text("consistency").equals("immutable");
        return changes ? "needs ro or consistency=immutable" : null;
    }

    private static Map<String, String> replaced() {
        Map<String, String> hints = new LinkedHashMap<>();
        hints.put("attr_timeout", "replaced by metadata_ttl");
        hints.put("entry_timeout", "replaced by metadata_ttl");
        hints.put("kernel_cache", "not needed: cached pages are kept while the file's version is unchanged");
        hints.put("auto_cache", "not needed: cached pages are kept while the file's version is unchanged");
        hints.put("direct_io", "not needed: pages of a changed file are dropped when it is opened");
        hints.put("max_read", "replaced by max_io");
        hints.put("max_write", "replaced by max_io");
        hints.put("big_writes", "not needed: always on");
        hints.put(
                "remount",
                "not supported: unmount and mount again; mount -o remount,bind,ro makes this one mount point"
                        + " read-only");
        hints.put("max_idle_threads", "replaced by max_threads");
        return hints;
    }

    /** As mount(8) and /etc/fstab have them. */
    private static Map<String, String> words() {
        Map<String, String> words = new LinkedHashMap<>();
        words.put("rw", "ro=off");
        words.put("nosuid", "suid=off");
        words.put("nodev", "dev=off");
        words.put("noexec", "exec=off");
        words.put("async", "sync=off");
        words.put("atime", "access_time=relatime");
        words.put("diratime", "access_time=relatime");
        for (String times : new String[] {"relatime", "noatime", "nodiratime", "strictatime"}) {
            words.put(times, "access_time=" + times);
        }
        for (String word :
                ("defaults _netdev nofail auto noauto user users nouser owner noowner group nogroup comment uhelper"
                                + " helper"
                                + " loud silent norelatime nostrictatime nolazytime noiversion nomand x-* X-*")
                        .split(" ", -1)) {
            words.put(word, "");
        }
        return words;
    }
}
