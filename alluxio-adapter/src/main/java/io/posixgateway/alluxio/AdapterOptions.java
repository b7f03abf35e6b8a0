package io.posixgateway.alluxio;

import io.posixgateway.alluxio.cache.FactsReader;
import io.posixgateway.alluxio.cache.Freshness.Consistency;
import io.posixgateway.alluxio.cache.FreshnessByPath;
import io.posixgateway.alluxio.cache.GroupAccess;
import io.posixgateway.alluxio.client.NameCodec;
import io.posixgateway.alluxio.data.TrustedFolders;
import io.posixgateway.alluxio.options.Option;
import io.posixgateway.alluxio.options.OptionException;
import io.posixgateway.alluxio.options.OptionTable;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.alluxio.recovery.StateFolder;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * How one volume behaves. {@link #TABLE} is where its options are declared.
 *
 * @param noOpen the kernel opens files by itself
 * @param metadataTtlNanos how long metadata is believed
 * @param metadataTtlNanosByPath the same for what is at and below these paths of the mount
 * @param openTrustNanos how old may be what an open believes with close-to-open consistency
 * @param negativeTtlNanos how long a name is believed to be missing without asking whether its directory changed
 * @param writeType of Alluxio, for what is written
 * @param passthroughBytes the smallest file that the kernel reads by itself; 0: it reads none
 * @param bypassBytes the smallest file that programs with the bypass library read by themselves; 0: they read none
 * @param readAheadBytes window of each remote stream; 0: none
 * @param bufferBytes memory of all windows together
 * @param names between the names of the mount and those in Alluxio
 * @param linkErrno what {@code link} answers, as Alluxio has no hard links; positive, or {@link HardLinks#BY_USE}
 * @param cacheEntries ceiling of the files and directories kept in memory beyond those the kernel knows
 * @param cacheBytes ceiling of the memory of all of them
 * @param blockFiles open block files kept
 * @param blockFolders where block files may be read
 * @param spoolFreeBytes what stays free on the spool's disk; -1: as is usual
 * @param streamFromBytes length from which on new files go straight to Alluxio; 0: never; -1: as the mount is
 * @param uid owner shown for every file; -1: as Alluxio says
 * @param gid likewise
 * @param umask permission bits taken off every file
 */
public record AdapterOptions(
        Consistency consistency,
        boolean noOpen,
        long metadataTtlNanos,
        Map<String, Long> metadataTtlNanosByPath,
        long openTrustNanos,
        long negativeTtlNanos,
        String writeType,
        boolean shortCircuit,
        long passthroughBytes,
        long bypassBytes,
        long readAheadBytes,
        long bufferBytes,
        NameCodec names,
        int linkErrno,
        int cacheEntries,
        long cacheBytes,
        int blockFiles,
        TrustedFolders blockFolders,
        Path spoolFolder,
        long spoolBytes,
        long spoolFreeBytes,
        long streamFromBytes,
        int uid,
        int gid,
        GroupAccess groupAccess,
        int umask) {
    private static final long STREAM_FROM_BYTES = 64L << 20;
    /** All of 32 bits but the last number, which means none. */
    private static final long MOST_ID = 0xFFFF_FFFEL;

    private static final long OWN_READS_AUTO_BYTES = 1 << 20;

    /** The options, once and for all: command line, control API and documentation read them here. */
    public static final OptionTable TABLE = new OptionTable(
            List.of(
                    Option.oneOf(
                            "consistency",
                            "close-to-open",
                            "What is seen of others' changes: all that was closed open_trust before the open (close-to-open),"
                                    + " what is at most metadata_ttl old (ttl), or nothing, since files never change"
                                    + " (immutable).",
                            "close-to-open",
                            "ttl",
                            "immutable"),
                    Option.onOff(
                            "no_open",
                            false,
                            "The kernel opens and closes files by itself, so that what it has pages of is read without a request,"
                                    + " as on a local file system: for millions of small files that are read again and again."
                                    + " Needs ro and consistency=immutable; no file is passed through."),
                    new Option(
                            "metadata_ttl",
                            new Option.Time(0, 86_400),
                            "5s",
                            "How long attributes, names and listings are valid, here and in the kernel."),
                    new Option(
                            "metadata_ttl_of",
                            new Option.TimesByPath(new Option.Time(0, 86_400), 64),
                            "",
                            "metadata_ttl of some paths and all that is below them, as /datasets=1h:/scratch=0; the longest"
                                    + " path counts. Both mean nothing where consistency is immutable."),
                    new Option(
                            "open_trust",
                            new Option.Time(0, 3600),
                            "1s",
                            "With close-to-open, how old attributes may be that an open trusts without a request to Alluxio;"
                                    + " 0: each open requests them."),
                    new Option(
                            "negative_ttl",
                            new Option.Time(0, 86_400),
                            "1s",
                            "How long a name is known to be missing, metadata_ttl at most. Then one request checks whether its"
                                    + " directory changed, for all its names that are missing. Means nothing where"
                                    + " consistency is immutable."),
                    Option.oneOf(
                            "write_type",
                            "CACHE_THROUGH",
                            "Where written files go: to the workers, the under file system, or both.",
                            "CACHE_THROUGH",
                            "THROUGH",
                            "MUST_CACHE",
                            "ASYNC_THROUGH"),
                    Option.onOff("short_circuit", true, "Blocks of a worker on this host are read as files."),
                    Option.oneOf(
                            "passthrough",
                            "auto",
                            "On mounts that change no file (ro, or consistency=immutable), the kernel itself reads block files"
                                    + " of a worker on this host, for files of one block: those of at least 1 MiB (auto), all"
                                    + " (on), none (off). Needs CAP_SYS_ADMIN and short_circuit; not together with"
                                    + " writeback_cache. Elsewhere files are read through the page cache, so that all see what"
                                    + " is written.",
                            "auto",
                            "on",
                            "off"),
                    Option.oneOf(
                            "bypass",
                            "off",
                            "On mounts that change no file (ro, or consistency=immutable), programs with"
                                    + " libposixgw-bypass.so preloaded read block files of a worker on this host by themselves:"
                                    + " of files of at least 1 MiB (auto), of all (on), of none (off). Needs short_circuit.",
                            "off",
                            "auto",
                            "on"),
                    Option.onOff("prefetch", true, "Streams from remote workers read ahead."),
                    new Option(
                            "read_ahead",
                            new Option.Size(0, 1L << 30),
                            "8M",
                            "Most of a file on another host that one of its readers has in memory, ahead of him and behind."),
                    new Option(
                            "buffer_size",
                            new Option.Size(1 << 20, 1L << 40),
                            "256M",
                            "Memory of all of those, together; half of POSIX_GATEWAY_DIRECT at most."),
                    Option.oneOf(
                            "names",
                            "escaped",
                            "Names that Alluxio cannot hold (with a question mark or a backslash, or no UTF-8), or an object"
                                    + " store cannot list (with control characters), are stored with %XX for such bytes and"
                                    + " %pgw% before them (escaped), or refused with EINVAL (strict).",
                            "escaped",
                            "strict"),
                    Option.oneOf(
                            "link_errno",
                            "auto",
                            "What link answers, as Alluxio has no hard links. On EPERM, Python's mailbox renames; on EOPNOTSUPP,"
                                    + " RocksDB, Flink and Pebble copy the files of a checkpoint; on EXDEV, OSTree copies, too."
                                    + " auto: EPERM within a directory or a Maildir, else EOPNOTSUPP.",
                            "auto",
                            "EOPNOTSUPP",
                            "EXDEV",
                            "EPERM"),
                    new Option(
                            "cache_entries",
                            new Option.Whole(1000, 100_000_000),
                            "",
                            "Most files and directories of this mount whose metadata is kept; by default as many as the"
                                    + " process has memory for. Files that the kernel knows stay beyond that, but from 2 ×"
                                    + " cache_entries on it is requested to evict some."),
                    new Option(
                            "cache_size",
                            new Option.Size(1 << 20, 1L << 40),
                            "",
                            "Most memory of that metadata, with names and extended attributes: beyond it the oldest is dropped"
                                    + " that neither the kernel nor a program uses. All mounts of a process share half of"
                                    + " POSIX_GATEWAY_HEAP."),
                    new Option("block_files", new Option.Whole(1, 1_000_000), "4096", "Most open local block files."),
                    new Option(
                            "block_folders",
                            new Option.Text("absolute paths with a colon between them, or " + TrustedFolders.NONE),
                            "",
                            "Folders at or beneath which block files of workers on this host may be read; elsewhere they are"
                                    + " read through the worker. By default wherever the worker says: name them where the"
                                    + " masters are not trusted."),
                    new Option(
                            "spool",
                            new Option.Text("a folder"),
                            "",
                            "Where changed files are kept until they are uploaded; by default"
                                    + " /var/lib/posix-gateway/spool for root, and posix-gateway/spool in XDG_STATE_HOME"
                                    + " (~/.local/state) for others."),
                    new Option(
                            "spool_size",
                            new Option.Size(1 << 20, 1L << 50),
                            "64G",
                            "Most that changed files may take there, holes not counted; more is refused with ENOSPC. No hole makes a"
                                    + " file longer than this: EFBIG."),
                    new Option(
                            "spool_free",
                            new Option.Size(0, 1L << 50),
                            "",
                            "What stays free on the disk of the spool, for recoveries, whoever fills it: writes get ENOSPC"
                                    + " before; by default 1G, but a twentieth of the disk at most."),
                    new Option(
                            "stream_from",
                            new Option.Size(0, 1L << 50),
                            "",
                            "A new file that is written in sequence goes straight to Alluxio, without a spool, once it"
                                    + " is so long (0: never). A file that is being streamed when the gateway is killed is"
                                    + " lost and its writer gets EIO; hence by default 64M, and never where mounts outlive"
                                    + " the gateway."),
                    new Option(
                            "uid",
                            new Option.Whole(0, MOST_ID),
                            "",
                            "Owner shown for every file; by default Alluxio's."),
                    new Option(
                            "gid",
                            new Option.Whole(0, MOST_ID),
                            "",
                            "Group shown for every file; by default Alluxio's."),
                    Option.oneOf(
                            "group_access",
                            "none",
                            "What the group may do beyond what a file's mode says, as Kubernetes' fsGroup asks for a pod's"
                                    + " group: read every file (read), or write it, too (write), and enter and list, or"
                                    + " change, every directory. Shown, and changed nowhere.",
                            "none",
                            "read",
                            "write"),
                    new Option("umask", new Option.Octal(), "0", "Permission bits taken off every file.")),
            OptionsElsewhere.all());

    /** The values of a table that holds {@link #TABLE}. */
    public static AdapterOptions of(OptionValues values) {
        String spool = values.text("spool");
        Consistency consistency = Consistency.valueOf(
                values.text("consistency").toUpperCase(Locale.ROOT).replace('-', '_'));
        boolean noOpen = values.on("no_open");
        if (noOpen) {
            checkNoOpen(consistency, values.text("passthrough"));
        }
        return new AdapterOptions(
                consistency,
                noOpen,
                values.millis("metadata_ttl") * 1_000_000L,
                nanos(values.millisByPath("metadata_ttl_of")),
                values.millis("open_trust") * 1_000_000L,
                values.millis("negative_ttl") * 1_000_000L,
                values.text("write_type"),
                values.on("short_circuit"),
                noOpen ? 0 : ownReads(values, "passthrough"),
                ownReads(values, "bypass"),
                values.on("prefetch") ? values.bytes("read_ahead") : 0,
                values.bytes("buffer_size"),
                values.text("names").equals("strict") ? NameCodec.STRICT : NameCodec.ESCAPED,
                linkErrno(values.text("link_errno")),
                values.given("cache_entries") ? (int) values.number("cache_entries") : Integer.MAX_VALUE,
                bytes(values, "cache_size", Long.MAX_VALUE),
                (int) values.number("block_files"),
                trusted(values.text("block_folders")),
                spool.isEmpty() ? StateFolder.standard().resolve("spool") : Path.of(spool),
                values.bytes("spool_size"),
                bytes(values, "spool_free", -1),
                bytes(values, "stream_from", -1),
                values.given("uid") ? (int) values.number("uid") : FactsReader.AS_ALLUXIO_SAYS,
                values.given("gid") ? (int) values.number("gid") : FactsReader.AS_ALLUXIO_SAYS,
                GroupAccess.valueOf(values.text("group_access").toUpperCase(Locale.ROOT)),
                values.octal("umask"));
    }

    private static int linkErrno(String name) {
        return switch (name) {
            case "auto" -> HardLinks.BY_USE;
            case "EPERM" -> Errno.EPERM;
            case "EXDEV" -> Errno.EXDEV;
            default -> Errno.EOPNOTSUPP;
        };
    }

    private static long bytes(OptionValues values, String name, long otherwise) {
        return values.given(name) ? values.bytes(name) : otherwise;
    }

    private static TrustedFolders trusted(String text) {
        try {
            return TrustedFolders.of(text);
        } catch (IllegalArgumentException e) {
            throw new OptionException("option block_folders=" + text + " is not allowed: " + e.getMessage()
                    + "; give absolute paths with a colon between them, or " + TrustedFolders.NONE);
        }
    }

    private static void checkNoOpen(Consistency consistency, String passthrough) {
        if (consistency != Consistency.IMMUTABLE) {
            throw new OptionException(
                    "option no_open (of a volume: noOpen) needs consistency=immutable: an open does not check whether"
                            + " the file changed; add that, or leave no_open out");
        }
        if (passthrough.equals("on")) {
            throw new OptionException(
                    "options no_open and passthrough=on exclude each other: a file is passed through when it"
                            + " is opened; leave one of them out");
        }
    }

    private static Map<String, Long> nanos(Map<String, Long> millis) {
        return millis.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, each -> each.getValue() * 1_000_000L));
    }

    /** From which length on new files are streamed; {@link Long#MAX_VALUE}: never. */
    long streamFrom(boolean outlivesProcess) {
        if (streamFromBytes > 0) {
            return streamFromBytes;
        }
        return streamFromBytes == 0 || outlivesProcess ? Long.MAX_VALUE : STREAM_FROM_BYTES;
    }

    /** How long what was seen of a file is believed. */
    FreshnessByPath freshness(Clock clock) {
        return new FreshnessByPath(
                consistency, metadataTtlNanos, metadataTtlNanosByPath, openTrustNanos, negativeTtlNanos, clock);
    }

    /** Of whoever reads block files beside this process, which could not limit that. */
    private static long ownReads(OptionValues values, String name) {
        if (values.declares("bytes_per_second") && values.given("bytes_per_second")) {
            return 0;
        }
        return switch (values.text(name)) {
            case "on" -> 1;
            case "auto" -> OWN_READS_AUTO_BYTES;
            default -> 0;
        };
    }

    /** All as when nothing is given. */
    public static AdapterOptions defaults() {
        return of(TABLE.read(Map.of()));
    }
}
